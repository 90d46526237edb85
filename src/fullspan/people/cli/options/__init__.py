"""Options: how the command line makes them from the estimators' parameters, spells them and reads their values."""
