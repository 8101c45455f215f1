"""HACS: predicts from archived captures which seeds have changed since their last capture."""
