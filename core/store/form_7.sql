-- From form 6 to form 7: the view of people's answers as scores is called so.

DROP VIEW given;
CREATE VIEW human_scores AS
    SELECT i.id AS item_id, i.study_id, r.rater_id, r.criterion, r.score, r.explanation
    FROM items i JOIN ratings r ON r.conversation_id = i.conversation_id AND +r.study_id = i.study_id
        AND ifnull(r.turn, 0) = ifnull(i.turn, 0)
    WHERE i.known = '' AND i.other_id IS NULL
    UNION ALL
    SELECT i.id, i.study_id, +x.rater_id, x.criterion, (1.0 + x.strong) * ((x.verdict = 'A') - (x.verdict = 'B'))
        * iif(x.first_id = i.conversation_id, 1, -1), x.explanation
    FROM items i JOIN studies t ON t.id = i.study_id JOIN comparisons x
        ON x.first_id IN (i.conversation_id, i.other_id) AND x.second_id IN (i.conversation_id, i.other_id)
        AND x.rubric = ifnull(json_extract(t.meta, '$.rubric.name'), '') AND x.failure IS NULL
        AND ifnull(x.study_id, t.id) = t.id
    JOIN raters h ON h.id = +x.rater_id AND h.kind = 'human'
    WHERE i.known = '' AND i.other_id IS NOT NULL;
