-- Macros that the selects of formats share, on the connection that reads them.

-- The first of some values; a null of JSON is none.
create macro first_in(found) as
list_filter(found, lambda one: one <> 'null')[1];

-- The first path that leads to a value.
create macro first_of(record, paths) as
first_in(json_extract(record, paths));

-- A number of tokens, or of those that are listed.
create macro tokens_of(value) as
if(json_type(value) = 'ARRAY', to_json(json_array_length(value)), value);

-- The texts at a path of a message's parts, put together; null where there is none.
create macro parts_of(parts, path) as
nullif(
    array_to_string(
        list_transform(
            list_filter(json_extract(parts, '$[*]'), lambda part: json_type(part, path) = 'VARCHAR'),
            lambda part: part ->> path
        ),
        ''
    ),
    ''
);

-- What the items of a kind say in an answer of /v1/responses: their content, or else a summary.
create macro content_of(body, kind) as
to_json(
    flatten(
        list_transform(
            list_filter(json_extract(body, '$.output[*]'), lambda item: item ->> '$.type' = kind),
            lambda item: list_concat(json_extract(item, '$.content[*]'), json_extract(item, '$.summary[*]'))
        )
    )
);

-- The texts at a path of a list's items, as turns; null where none says anything.
create macro turns_of(items, path) as
nullif(
    array_to_string(
        list_filter(
            list_transform(
                items, lambda item: if(json_type(item, path) = 'VARCHAR', item ->> path, null)
            ),
            lambda said: trim(said, e' \t\r\n') <> ''
        ),
        e'\n\n'
    ),
    ''
);

create macro logprobs_of(tokens) as
list_transform(
    json_extract(tokens, '$[*]'),
    lambda token: try_cast(if(json_type(token) = 'OBJECT', token ->> '$.logprob', token ->> '$') as double)
);

-- The mean log-probability of a list of tokens, each {"logprob": …} or a number.
create macro mean_logprob(tokens) as
if(len(logprobs_of(tokens)) = list_count(logprobs_of(tokens)), list_avg(logprobs_of(tokens)), null);

-- What a user has put beside a response, under a known name.
create macro own_competition(record) as
first_of(record, ['$.competition', '$.benchmark', '$.dataset', '$.task', '$.task_name']);

create macro own_problem(record) as
first_of(
    record,
    [
        '$.question_id', '$.problem_id', '$.problem_idx', '$.doc_id',
        '$.qid', '$.question_idx', '$.problem_index', '$.question_index',
    ]
);

create macro own_id(record) as
first_of(
    record,
    ['$.id', '$.idx', '$.index', '$.unique_id', '$.data_id', '$.task_id', '$.example_id']
);

create macro own_attempt(record) as
first_of(
    record,
    [
        '$.seed', '$.sample_id', '$.sample_index', '$.sample_idx', '$.attempt', '$.attempt_id',
        '$.attempt_index', '$.epoch', '$.trial', '$.rollout_id', '$.rollout_idx',
    ]
);

create macro own_correct(record) as
first_of(record, ['$.correct', '$.is_correct']);

create macro own_references(record) as
first_of(
    record,
    [
        '$.references', '$.reference', '$.reference_answer', '$.ground_truth',
        '$.gold_answer', '$.expected_answer',
    ]
);

-- The problem and the attempt that a custom_id says, or else the user's own. A number at its end is
--     an attempt's where it says so: p1#0, p1-attempt-0. After a mere hyphen it may as well be the
--     problem's: request-1.
create macro request_name(record) as
first_of(record, ['$.custom_id']);

create macro named_attempt(record) as
regexp_extract(
    record ->> '$.custom_id',
    '^(.+?)(?:#|::|[-_/.:](?:attempt|sample|seed|epoch|repeat|rep|run|try|trial)[-_/.:=#]?)(\d+)$',
    ['problem', 'attempt']
);

create macro request_problem(record, has_response) as
if(
    request_name(record) is null,
    coalesce(
        own_problem(record),
        first_of(record, ['$.problem', '$.question', '$.key']),
        if(has_response, own_id(record), null)
    ),
    coalesce(to_json(nullif(named_attempt(record).problem, '')), request_name(record))
);

create macro request_attempt(record) as
if(
    request_name(record) is null,
    coalesce(own_attempt(record), first_of(record, ['$.sample', '$.rollout', '$.generation_id'])),
    to_json(try_cast(named_attempt(record).attempt as bigint))
);

-- A call of a model: its usage as OpenAI or Anthropic names it, what it cost and how long it took.
create macro step_of(used, paid, took) as
json_object(
    'prompt_tokens', first_of(used, ['$.prompt_tokens', '$.input_tokens']),
    'cached_tokens', first_of(
        used,
        [
            '$.cache_read_tokens', '$.prompt_tokens_details.cached_tokens',
            '$.input_tokens_details.cached_tokens', '$.cached_tokens',
        ]
    ),
    'completion_tokens', first_of(used, ['$.completion_tokens', '$.output_tokens']),
    'money', paid,
    'seconds', took
);

-- The sum of a count over steps; null where none has it.
create macro total_of(steps, path) as
list_sum(list_transform(json_extract(steps, '$[*]'), lambda step: try_cast(step ->> path as bigint)))::bigint;

create macro seconds_between(began, ended) as
nullif(greatest(epoch(try_cast(ended as timestamp)) - epoch(try_cast(began as timestamp)), -1), -1);

-- The place of a Harbor trial's folder, TASK__ID, among those of its task, by name.
create macro trial_place(folder, trials) as
if(
    regexp_extract(folder, '^(.*)__', 1) = '',
    0,
    coalesce(
        list_position(
            list_sort(
                list_filter(
                    json_keys(trials),
                    lambda name: regexp_extract(name, '^(.*)__', 1) = regexp_extract(folder, '^(.*)__', 1)
                )
            ),
            folder
        ) - 1,
        0
    )
);

-- How a Harbor trial failed; one without an exception has ended by itself.
create macro failure_of(result) as
if(
    coalesce(result ->> '$.exception_info', '') in ('', '{}', 'false'),
    'stop',
    coalesce(result ->> '$.exception_info.exception_type', 'error')
);

-- The first path that leads to a text.
create macro first_text(record, paths) as
list_filter(json_extract(record, paths), lambda found: json_type(found) = 'VARCHAR')[1] ->> '$';

-- A list as one answer, with blanks between its members; any other value as its text.
create macro joined(value) as
if(
    json_type(value) = 'ARRAY',
    array_to_string(json_extract_string(value, '$[*]'), ', '),
    value ->> '$'
);

-- The study's competitions in every spelling that can mean nothing else.
create macro spelling(name) as
regexp_replace(lower(name), '[^a-z0-9]+', '_', 'g');

create macro competition_of(name) as
case
    when regexp_full_match(spelling(name), 'aime_?(20)?24') then 'AIME24'
    when regexp_full_match(spelling(name), 'aime_?(20)?25') then 'AIME25'
    when regexp_full_match(spelling(name), 'brumo_?(20)?25') then 'BrUMO25'
    when regexp_full_match(spelling(name), 'hmmt_?(feb(ruary)?_?)?(20)?25(_?feb(ruary)?)?') then 'HMMT25'
end;

create macro year_of(part) as
regexp_replace(spelling(part), '_?nov', '0', 'g');

-- The competitions that a part of a path names; a year goes on with no digit and no November.
create macro competitions_in(part) as
list_filter(
    [
        if(regexp_matches(year_of(part), 'aime_?(20)?24([^0-9]|$)'), 'AIME24', null),
        if(regexp_matches(year_of(part), 'aime_?(20)?25([^0-9]|$)'), 'AIME25', null),
        if(regexp_matches(year_of(part), 'brumo_?(20)?25([^0-9]|$)'), 'BrUMO25', null),
        if(
            regexp_matches(
                year_of(part), 'hmmt_?(feb(ruary)?_?)?(20)?25(_?feb(ruary)?)?([^0-9]|$)'
            ),
            'HMMT25',
            null
        ),
    ],
    lambda name: name is not null
);

create macro unquoted(item) as
if(
    left(item, 1) in ('''', '"'),
    regexp_replace(item[2:-2], '\\(.)', '\1', 'g'),
    item
);

create macro literal_items(value) as
list_transform(
    regexp_extract_all(value ->> '$', '''(?:[^''\\]|\\.)*''|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?'),
    lambda item: unquoted(item)
);

-- What the text of a Python literal stands for: a text, or a list of texts and numbers. The text of
--     a number stays: 1_000 and 1e3 are no spellings of an answer. NumPy writes lists without
--     commas, and (1, 2) may be a point: both stay as they are.
create macro literal_of(value) as
case
    when json_type(value) <> 'VARCHAR' then value
    when regexp_full_match(trim(value ->> '$'), '''(?:[^''\\]|\\.)*''|"(?:[^"\\]|\\.)*"')
        then to_json(unquoted(trim(value ->> '$')))
    when regexp_full_match(trim(value ->> '$'), '\[\s*(?:(?:''(?:[^''\\]|\\.)*''|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?)\s*(?:,\s*|\]$))*\]?')
        or regexp_full_match(trim(value ->> '$'), '\(\s*(?:(?:''(?:[^''\\]|\\.)*''|"(?:[^"\\]|\\.)*")\s*(?:,\s*|\)$))+\)?')
        then to_json(literal_items(value))
    when regexp_full_match(trim(value ->> '$'), '\{\s*(?:(?:''(?:[^''\\]|\\.)*''|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?)\s*(?:,\s*|\}$))+\}?')
        then to_json(list_sort(literal_items(value)))
    else value
end;

-- How likely a verifier holds an answer to be correct: A is correct; B and C are incorrect and invalid.
create macro verified_by(label, prob) as
if(trim(label) = 'A', try_cast(prob as double), 1 - if(label is null, null, try_cast(prob as double)));
