"""What every learner stands on: progress, stopping, one Newton method, one em loop. Imports no learner."""
