-- known_rules: which attempts a built-in rule of the run returns and what it pays for, a word
--     each; from these follow the budgets at which answers and costs change.
-- grain: rule_id
select
    used_rules.rule_id,
    used_rules.rule,
    known.returned_when,
    known.pays_for,
from used_rules
inner join (
    values
        ('strict', 'finished', 'budget'),
        ('step', 'last_step_begun', 'step'),
        ('step_lost', 'finished', 'step'),
        ('advisory', 'launched', 'attempt'),
        ('attempt_lost', 'finished', 'attempt')
) as known (rule, returned_when, pays_for)
    on used_rules.rule = known.rule
