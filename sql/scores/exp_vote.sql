-- exp_vote: the answer whose attempts' weights, exponentials of their scores, add up to the most so
--     far; a tie goes to the answer seen first, whose earliest attempt is chosen.
-- grain: walk_id, position
-- needs: answers
{% set weight = 'exp_weight' %}
{% include 'scores/weighted_vote.jinja' %}
