-- vote: the answer whose attempts' weights, their scores, add up to the most so far; a tie goes to
--     the answer seen first, whose earliest attempt is chosen.
-- grain: walk_id, position
-- needs: answers
{% set weight = 'weight' %}
{% include 'scores/weighted_vote.jinja' %}
