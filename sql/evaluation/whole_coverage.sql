-- whole_coverage: coverage of whole walks.
-- grain: walk_id
{% set walked = 'whole_walked' %}
{% include 'evaluation/coverage.sql' %}
