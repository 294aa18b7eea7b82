"""Exact answers for tree ensembles: reading them, and the compiled sums over their leaves.

It imports neither explanations nor widgets; ``pdp_widgets.explain`` asks it whenever the model is a sum of trees.
"""
