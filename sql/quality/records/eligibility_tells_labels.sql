-- eligibility_tells_labels: labelled attempts, counted where at least 98 % of the eligible ones are
--     correct and at least 98 % of the others are not; both kinds and both labels have to occur.
-- grain: archive
select
    archive,
    if(
        count(*) filter (eligible) > 0
            and count(*) filter (not eligible) > 0
            and bool_or(correct)
            and not bool_and(correct)
            and 100 * count(*) filter (eligible and correct) >= 98 * count(*) filter (eligible)
            and 100 * count(*) filter (not eligible and not correct) >= 98 * count(*) filter (not eligible),
        count(*),
        0
    ) as count,
    count(*) as total,
from attempts
inner join labels using (archive, competition, question_id, seed)
where labels.correct is not null
group by archive
