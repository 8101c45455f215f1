"""HACS: which seeds have changed since they were last captured, by what archives hold of them."""
