"""What a user would write instead of the tool, made from the protocol's text and not from the tool.

Each of `loop`, `vectorized` and `frames` has `prepare(attempts)`, its own form of the attempts in
memory; `replay(form, settings)`, totals per bank, cap, budget and rule over the random orders; and
`tabulate(form, totals, settings)`, the rows of `main` and `selectors` with their intervals. All
caps and selectors are replayed, and every selector's accuracy change is resampled at the primary
cap; what neither table needs (canonical order, prompt costs, repaired labels) is left out.
"""
