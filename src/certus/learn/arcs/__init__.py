"""Learning dependency parsers: templates of arcs, trees to learn from, the learner."""
