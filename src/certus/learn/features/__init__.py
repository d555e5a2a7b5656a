"""What learners see of sentences: templates, vocabularies, label inventories, training sets."""
