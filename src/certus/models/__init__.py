"""What people train and load."""
