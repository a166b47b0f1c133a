-- step_costs: what every step of a replayed attempt costs in the unit of the replay, a whole
--     number; null where the records do not say.
-- grain: bank_id, slot, step
-- kept: table
{% include 'units/unit_' ~ unit ~ '.sql' %}
