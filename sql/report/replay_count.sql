-- replay_count: how many replays there are, without running one.
-- grain: replays
select
    (select count(*) from walks)
    * (select count(*) from caps)
    * (select count(*) from budgets)
    * (select count(*) from used_rules) as replays,
