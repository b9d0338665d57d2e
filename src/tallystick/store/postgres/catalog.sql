-- Everything of the schema that can change what is read or who may: a row (name, definition) for each object, and for each
-- right that somebody has. Roles are called by what they are here, since who owns the tables differs from place to place: (owner)
-- is whose the table "migration" is. Left out is what the owner and superusers may, since they may whatever is written, and
-- what the extensions brought along that stand in the schema. Ours are compared whole; of what is none of ours its being there
-- is enough.
WITH RECURSIVE ours AS (
    SELECT oid, nspowner, nspacl FROM pg_catalog.pg_namespace WHERE nspname = 'tally'
), owning AS (
    SELECT c.relowner AS oid FROM pg_catalog.pg_class AS c JOIN ours ON c.relnamespace = ours.oid WHERE c.relname = 'migration'
), roles AS (
    SELECT 0::oid AS oid, 'PUBLIC' AS called, false AS may_all
    UNION ALL
    SELECT r.oid, CASE WHEN r.rolname = 'tally_session' THEN r.rolname::text
        WHEN r.oid = owning.oid THEN '(owner)' ELSE quote_ident(r.rolname) END,
        r.rolname <> 'tally_session' AND (r.rolsuper OR r.oid = owning.oid)
    FROM pg_catalog.pg_roles AS r LEFT JOIN owning ON true
), brought AS (
    -- A relation never is: neither extension has one, and any object can be made a member of an extension by hand.
    SELECT d.classid, d.objid FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_extension AS e ON e.oid = d.refobjid
    WHERE d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.deptype = 'e' AND e.extname IN ('btree_gist', 'amcheck')
        AND d.classid <> 'pg_catalog.pg_class'::regclass
), relations AS (
    SELECT c.*, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view'
        WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' WHEN 'S' THEN 'sequence'
        ELSE 'relation ' || c.relkind::text END AS kind
    FROM pg_catalog.pg_class AS c JOIN ours ON c.relnamespace = ours.oid WHERE c.relkind NOT IN ('i', 'I', 'c')  -- Indexes and types come further down.
), functions AS (
    SELECT f.*, f.proname || '(' || pg_get_function_identity_arguments(f.oid) || ')' AS called
    FROM pg_catalog.pg_proc AS f JOIN ours ON f.pronamespace = ours.oid JOIN pg_catalog.pg_language AS l ON l.oid = f.prolang
    WHERE l.lanname <> 'c' OR f.prosecdef
        OR NOT EXISTS (SELECT FROM brought AS b WHERE b.classid = 'pg_catalog.pg_proc'::regclass AND b.objid = f.oid)
), reached AS (
    -- Relations that show what stands in ours, wherever they are.
    SELECT oid FROM relations
    UNION
    SELECT r.ev_class FROM reached JOIN pg_catalog.pg_depend AS d
        ON d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = reached.oid AND d.classid = 'pg_catalog.pg_rewrite'::regclass
    JOIN pg_catalog.pg_rewrite AS r ON r.oid = d.objid
), rights AS (
    SELECT 'schema tally' AS what, a.grantee, a.privilege_type, a.is_grantable, NULL AS col
    FROM ours, aclexplode(ours.nspacl) AS a
    UNION ALL
    SELECT c.relname::text, a.grantee, a.privilege_type, a.is_grantable, NULL FROM relations AS c, aclexplode(c.relacl) AS a
    UNION ALL
    SELECT c.relname::text, a.grantee, a.privilege_type, a.is_grantable, t.attname
    FROM relations AS c JOIN pg_catalog.pg_attribute AS t ON t.attrelid = c.oid, aclexplode(t.attacl) AS a
    UNION ALL
    SELECT 'function ' || f.called, a.grantee, a.privilege_type, a.is_grantable, NULL
    FROM functions AS f, aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) AS a
    UNION ALL
    SELECT 'the parameter ' || p.parname, a.grantee, a.privilege_type, a.is_grantable, NULL
    FROM pg_catalog.pg_parameter_acl AS p, aclexplode(p.paracl) AS a JOIN roles AS r ON r.oid = a.grantee
    WHERE p.parname IN ('session_replication_role', 'row_security') AND r.called IN ('PUBLIC', 'tally_session')
)
SELECT 'schema tally', CASE WHEN r.may_all THEN '(owner)' ELSE r.called END FROM ours JOIN roles AS r ON r.oid = ours.nspowner
UNION ALL
SELECT c.kind || ' ' || c.relname,
    concat_ws(' ', r.called, c.relrowsecurity, c.relforcerowsecurity, c.relpersistence, (SELECT string_agg(concat_ws(' ',
        a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstorage, nullif(a.attstattarget, -1),
        (SELECT collname FROM pg_catalog.pg_collation WHERE oid = a.attcollation), nullif(a.attidentity, ''),
        nullif(a.attgenerated, ''), pg_get_expr(d.adbin, d.adrelid)), ', ' ORDER BY a.attnum)
        FROM pg_catalog.pg_attribute AS a LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
        CASE WHEN c.relkind IN ('v', 'm') THEN concat_ws(' ', c.reloptions, pg_get_viewdef(c.oid)) END)
    FROM relations AS c JOIN roles AS r ON r.oid = c.relowner
UNION ALL
SELECT c.kind || ' ' || (c.oid::regclass), 'shows what the tables hold, and is kept or shown to others'
    FROM (SELECT o.*, CASE o.relkind WHEN 'm' THEN 'materialized view' WHEN 'v' THEN 'view' ELSE 'table with a rule' END AS kind
        FROM pg_catalog.pg_class AS o WHERE o.oid IN (SELECT oid FROM reached)) AS c
    WHERE c.relnamespace <> (SELECT oid FROM ours) AND (c.relkind <> 'v' OR EXISTS (
        SELECT FROM (SELECT c.relacl AS acl UNION ALL
            SELECT t.attacl FROM pg_catalog.pg_attribute AS t WHERE t.attrelid = c.oid) AS s, aclexplode(s.acl) AS a
        JOIN roles AS r ON r.oid = a.grantee WHERE NOT r.may_all AND r.oid <> c.relowner))
UNION ALL
SELECT 'child ' || i.inhrelid::regclass || ' of ' || i.inhparent::regclass, i.inhseqno::text FROM pg_catalog.pg_inherits AS i
    WHERE i.inhparent IN (SELECT oid FROM relations) OR i.inhrelid IN (SELECT oid FROM relations)
UNION ALL
SELECT 'index ' || c.relname, concat_ws(' ', pg_get_indexdef(i.indexrelid), i.indisvalid) FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid WHERE i.indrelid IN (SELECT oid FROM relations)
UNION ALL
SELECT 'constraint ' || o.conname || ' on ' || coalesce(c.relname, o.conrelid::regclass::text),
    concat_ws(' ', pg_get_constraintdef(o.oid), o.convalidated)
    FROM pg_catalog.pg_constraint AS o LEFT JOIN relations AS c ON c.oid = o.conrelid
    WHERE o.contype <> 'n' AND (c.oid IS NOT NULL OR o.confrelid IN (SELECT oid FROM relations))
UNION ALL
SELECT 'trigger ' || g.tgname || ' on ' || c.relname, concat_ws(' ', pg_get_triggerdef(g.oid), g.tgenabled)
    FROM pg_catalog.pg_trigger AS g JOIN relations AS c ON c.oid = g.tgrelid WHERE NOT g.tgisinternal
UNION ALL
SELECT 'rule ' || w.rulename || ' on ' || c.relname, concat_ws(' ', pg_get_ruledef(w.oid), w.ev_enabled)
    FROM pg_catalog.pg_rewrite AS w JOIN relations AS c ON c.oid = w.ev_class
    WHERE w.rulename <> '_RETURN' OR c.relkind NOT IN ('v', 'm')
UNION ALL
SELECT 'policy ' || p.polname || ' on ' || c.relname, concat_ws(' ', p.polcmd, p.polpermissive,
    (SELECT string_agg(r.called, ' ' ORDER BY r.called) FROM roles AS r WHERE r.oid = ANY (p.polroles)),
    pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
    FROM pg_catalog.pg_policy AS p JOIN relations AS c ON c.oid = p.polrelid
UNION ALL
SELECT 'function ' || f.called, concat_ws(' ', r.called, l.lanname, f.prokind, pg_get_function_result(f.oid), f.prosecdef,
    f.proleakproof, f.proisstrict, f.provolatile, f.proparallel, f.proconfig, pg_get_expr(f.proargdefaults, 0), f.prosrc,
    pg_get_function_sqlbody(f.oid))
    FROM functions AS f JOIN roles AS r ON r.oid = f.proowner JOIN pg_catalog.pg_language AS l ON l.oid = f.prolang
UNION ALL
SELECT 'right of ' || r.called || ' on ' || g.what, string_agg(concat(g.privilege_type,
    CASE WHEN g.is_grantable THEN ' with grant option' END, ' of ' || g.col), ', ' ORDER BY g.privilege_type, g.col)
    FROM rights AS g JOIN roles AS r ON r.oid = g.grantee WHERE NOT r.may_all GROUP BY r.called, g.what
UNION ALL
SELECT 'role tally_session', concat_ws(' ', CASE WHEN rolsuper THEN 'SUPERUSER' END, CASE WHEN rolbypassrls THEN 'BYPASSRLS' END,
    CASE WHEN rolcreaterole THEN 'CREATEROLE' END, CASE WHEN rolcreatedb THEN 'CREATEDB' END,
    CASE WHEN rolreplication THEN 'REPLICATION' END, CASE WHEN rolcanlogin THEN 'LOGIN' ELSE 'NOLOGIN' END)
    FROM pg_catalog.pg_roles WHERE rolname = 'tally_session'
UNION ALL
SELECT 'membership of tally_session in ' || r.called, 'granted' FROM pg_catalog.pg_auth_members AS m
    JOIN roles AS s ON s.oid = m.member JOIN roles AS r ON r.oid = m.roleid WHERE s.called = 'tally_session'
UNION ALL
SELECT concat('setting ', s.name, ' of ', CASE WHEN s.setrole = 0 THEN 'the database'
    ELSE 'the role ' || (SELECT r.called FROM roles AS r WHERE r.oid = s.setrole) END), 'kept'
    FROM (SELECT split_part(lower(unnest(d.setconfig)), '=', 1) AS name, d.setrole FROM pg_catalog.pg_db_role_setting AS d
        WHERE d.setdatabase IN (0, (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()))) AS s
    WHERE s.name LIKE 'tally.%' OR s.name = 'session_replication_role'
UNION ALL
SELECT 'setting session_replication_role', current_setting('session_replication_role')
UNION ALL
SELECT 'setting tally.erasing', nullif(current_setting('tally.erasing', true), '')
    WHERE current_setting('tally.erasing', true) <> ''
UNION ALL
-- Those that run when a session begins, or run something of ours. What others do shows in what they leave.
SELECT 'event trigger ' || v.evtname, concat_ws(' ', v.evtevent, v.evtenabled) FROM pg_catalog.pg_event_trigger AS v
    WHERE v.evtevent = 'login' OR v.evtfoid IN (SELECT oid FROM functions)
UNION ALL
-- Whatever else can stand in a schema: types, operators, collations, default privileges; and statistics, which keep samples.
SELECT DISTINCT o.type || ' ' || coalesce(o.identity, ''), 'there'
    FROM pg_catalog.pg_depend AS d, pg_identify_object(d.classid, d.objid, 0) AS o
    WHERE NOT EXISTS (SELECT FROM brought AS b WHERE b.classid = d.classid AND b.objid = d.objid) AND (
        d.refclassid = 'pg_catalog.pg_namespace'::regclass AND d.refobjid = (SELECT oid FROM ours) AND d.classid NOT IN (
            'pg_catalog.pg_class'::regclass, 'pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_extension'::regclass,
            'pg_catalog.pg_publication_namespace'::regclass)
        OR d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid IN (SELECT oid FROM relations)
            AND d.classid = 'pg_catalog.pg_statistic_ext'::regclass)
