"""What ``python -m pdp_widgets`` can do, one command per module: ``add`` describes its options, ``run`` does it."""
