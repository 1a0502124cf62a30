-- From form 10 to form 11: what queries repeated of items and placements has views.

CREATE VIEW study_items AS
    SELECT i.id, i.study_id, i.conversation_id, i.other_id, i.turn, i.judgement_id, i.stratum, i.known,
        i.other_id IS NULL OR i.stratum NOT IN (SELECT key FROM scenarios WHERE state = 'discarded') AS asked,
        i.other_id IS NOT NULL AND EXISTS (SELECT 1 FROM studies t JOIN criteria k ON k.scope = 'study:' || t.name
            WHERE t.id = i.study_id AND k.scale ->> '$[2]' = 'ranking') AS ranked
    FROM items i;

CREATE VIEW item_contents AS
    SELECT i.id AS item_id, c.reply_chars + ifnull(d.reply_chars, 0) AS reply_chars,
        iif(d.id IS NULL, c.key, iif(d.player < c.player, d.key || ' | ' || c.key, c.key || ' | ' || d.key)) AS key,
        iif(d.id IS NULL, c.player, iif(d.player < c.player, d.player || ' | ' || c.player,
            c.player || ' | ' || d.player)) AS player
    FROM items i JOIN conversations c ON c.id = i.conversation_id LEFT JOIN conversations d ON d.id = i.other_id;

CREATE VIEW placed_items AS
    SELECT p.id, p.item_id, p.rater_id, p.purpose, p.attempt, p.position, p.state, p.reason, p.flag, p.seconds, p.swapped,
        p.opened, p.submitted, i.study_id, i.conversation_id, i.other_id, i.turn, i.stratum, i.known, i.asked, i.ranked,
        iif(p.purpose IN ('first', 'extra') AND i.other_id IS NULL, p.item_id, p.id) AS number,
        iif(i.ranked, i.study_id || ' ' || i.stratum || ' ' || p.purpose || ' ' || p.attempt, p.id) AS entry,
        p.state <> 'open' OR p.flag <> '' OR EXISTS (SELECT 1 FROM answers a WHERE a.placement_id = p.id)
            OR EXISTS (SELECT 1 FROM ratings r WHERE r.conversation_id = i.conversation_id
            AND +r.study_id = i.study_id AND ifnull(r.turn, 0) = ifnull(i.turn, 0) AND r.rater_id = p.rater_id) AS begun
    FROM placements p JOIN study_items i ON i.id = p.item_id;

CREATE VIEW compared_items AS
    SELECT i.id AS item_id, i.study_id, x.rater_id, r.kind, r.simulated
    FROM items i JOIN studies t ON t.id = i.study_id
    JOIN comparisons x ON x.first_id IN (i.conversation_id, i.other_id) AND x.second_id IN (i.conversation_id, i.other_id)
        AND x.rubric = t.rubric AND x.failure IS NULL
    JOIN raters r ON r.id = x.rater_id;
