"""What people pass to estimators: tables, targets, evidence, parameters."""
