"""A smoothed hidden Markov model: the model, its decoder and its learner."""
