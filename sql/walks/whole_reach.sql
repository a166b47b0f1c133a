-- whole_reach: the reach of every bank where walks are whole: to the largest cap, whatever it costs.
-- grain: bank_id
{% set walks_on = true %}
{% include 'walks/reach.sql' %}
