BEGIN TRANSACTION;
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
  role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
  token_count INTEGER, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT,
  codex_reasoning_items TEXT, observed INTEGER DEFAULT 0, _compressed_summary INTEGER NOT NULL DEFAULT 0,
  active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0);
INSERT INTO "messages" VALUES(1,'20260528_202640_aaaaaa','user','Prices must be integers of cents, never floats.

<memory-context>
[System note: recalled, NOT new user input.]
The user likes Euro.
</memory-context>',NULL,NULL,NULL,1780000001.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(2,'20260528_202640_aaaaaa','assistant','I will store prices as integers.',NULL,'[{"id": "call_0", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"pytest -q\"}"}}, {"id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"ruff check\"}"}}]',NULL,1780000002.25,NULL,'tool_calls','Floats lose cents.',NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(3,'20260528_202640_aaaaaa','tool','{"output": "12 passed in 0.31s", "exit_code": 0, "error": null}','call_0',NULL,'terminal',1780000003.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(4,'20260528_202640_aaaaaa','tool','{"output": "E501", "exit_code": 1, "error": null}','call_1',NULL,'terminal',1780000004.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(5,'20260528_202640_aaaaaa','assistant','',NULL,'[{"id": "call_2", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"sleep 900\"}"}}, {"id": "call_3", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"make serve\", \"background\": true}"}}, {"id": "call_4", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"rm -r data\"}"}}, {"id": "call_5", "type": "function", "function": {"name": "write_file", "arguments": "{\"path\": \"price.py\", \"content\": \"x\"}"}}, {"id": "call_6", "type": "function", "function": {"name": "patch", "arguments": "{\"mode\": \"patch\", \"patch\": \"*** Begin Patch\\n*** Update File: tax.py\\n*** End Patch\"}"}}, {"id": "call_7", "type": "function", "function": {"name": "patch", "arguments": "{\"path\": \"vat.py\", \"old_string\": \"a\"}"}}, {"id": "call_8", "type": "function", "function": {"name": "memory", "arguments": "{\"action\": \"add\", \"content\": \"Prices in cents\"}"}}, {"id": "call_9", "type": "function", "function": {"name": "delegate_task", "arguments": "{\"goal\": \"Find floats\"}"}}, {"id": "call_10", "type": "function", "function": {"name": "clarify", "arguments": "{\"question\": \"Which currency?\"}"}}, {"id": "call_11", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"tally brief\"}"}}]',NULL,1780000005.25,NULL,'tool_calls',NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(6,'20260528_202640_aaaaaa','tool','{"output": "x\n[Command timed out after 180s]", "exit_code": 124, "error": null}','call_2',NULL,'terminal',1780000006.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(7,'20260528_202640_aaaaaa','tool','{"output": "Background process started", "exit_code": 0, "error": null, "pid": 7}','call_3',NULL,'terminal',1780000007.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(8,'20260528_202640_aaaaaa','tool','{"output": "", "exit_code": -1, "error": "BLOCKED: User denied this command.", "status": "blocked"}','call_4',NULL,'terminal',1780000008.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(9,'20260528_202640_aaaaaa','tool','{"bytes_written": 1, "files_modified": ["price.py"]}','call_5',NULL,'write_file',1780000009.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(10,'20260528_202640_aaaaaa','tool','{"success": true}','call_6',NULL,'patch',1780000010.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(11,'20260528_202640_aaaaaa','tool','{"success": false, "error": "no match"}','call_7',NULL,'patch',1780000011.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(12,'20260528_202640_aaaaaa','tool','{"success": true, "entries": ["Prices in cents"]}','call_8',NULL,'memory',1780000012.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(13,'20260528_202640_aaaaaa','tool','{"results": [{"summary": "Two floats are left in src/tax.py."}]}','call_9',NULL,'delegate_task',1780000013.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(14,'20260528_202640_aaaaaa','tool','{"question": "Which currency?", "user_response": "Euro only"}','call_10',NULL,'clarify',1780000014.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(15,'20260528_202640_aaaaaa','tool','{"output": "<tallystick-briefing as-of=\"c12\">\n- Prices are integers of cents.\n</tallystick-briefing>", "exit_code": 0, "error": null}','call_11',NULL,'terminal',1780000015.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(16,'20260528_202640_aaaaaa','assistant','The tests pass; the linter still complains.',NULL,NULL,NULL,1780000016.25,NULL,'stop',NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(17,'20260528_202640_aaaaaa','user','Review the conversation above and consider saving to memory if appropriate.

Focus on:
1. Has the user revealed things about themselves?',NULL,NULL,NULL,1780000017.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(18,'20260528_202640_aaaaaa','assistant','',NULL,'[{"id": "call_12", "type": "function", "function": {"name": "memory", "arguments": "{\"action\": \"add\", \"content\": \"likes cents\"}"}}]',NULL,1780000018.25,NULL,'tool_calls',NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(19,'20260528_202640_aaaaaa','tool','{"success": true}','call_12',NULL,'memory',1780000019.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(20,'20260528_202640_aaaaaa','assistant','Saved: the user likes cents.',NULL,NULL,NULL,1780000020.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(21,'20260528_202640_aaaaaa','user','[IMPORTANT: The user has invoked the "release" skill, indicating they want you to follow its instructions. The full skill content is loaded below.]

# Release
Always tag before publishing.

The user has provided the following instruction alongside the skill invocation: release 2.1 today

[Runtime note: the working folder is /work/shop]',NULL,NULL,NULL,1780000021.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(22,'20260528_202640_aaaaaa','assistant','Tagged 2.1.',NULL,NULL,NULL,1780000022.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(23,'20260528_202640_aaaaaa','user','[System note: Your previous turn was interrupted before it was done.]

Now the tax table, please.',NULL,NULL,NULL,1780000023.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(24,'20260528_203000_bbbbbb','user','Prices must be integers of cents, never floats.

<memory-context>
[System note: recalled, NOT new user input.]
The user likes Euro.
</memory-context>',NULL,NULL,NULL,1780000024.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(25,'20260528_203000_bbbbbb','user','[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. This is a handoff from a previous context window.
## Historical Task Snapshot
Prices are integers of cents.

--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---',NULL,NULL,NULL,1780000025.25,NULL,NULL,NULL,NULL,NULL,NULL,0,1,1,0);
INSERT INTO "messages" VALUES(26,'20260528_203000_bbbbbb','assistant','Tagged 2.1.',NULL,NULL,NULL,1780000026.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(27,'20260528_203000_bbbbbb','user','[System note: Your previous turn was interrupted before it was done.]

Now the tax table, please.',NULL,NULL,NULL,1780000027.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(28,'20260528_203000_bbbbbb','assistant','The tax table is next.',NULL,NULL,NULL,1780000028.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(29,'20260528_203000_bbbbbb','user','Now the tax table, please.',NULL,NULL,NULL,1780000029.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(30,'20260528_203100_cccccc','user','Find every float.',NULL,NULL,NULL,1780000030.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(31,'20260528_203100_cccccc','assistant','Two floats are left in src/tax.py.',NULL,NULL,NULL,1780000031.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(32,'20260528_203200_dddddd','user','Prices must be integers of cents, never floats.

<memory-context>
[System note: recalled, NOT new user input.]
The user likes Euro.
</memory-context>',NULL,NULL,NULL,1780000032.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(33,'20260528_203200_dddddd','user','[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. This is a handoff from a previous context window.
## Historical Task Snapshot
Prices are integers of cents.

--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---',NULL,NULL,NULL,1780000033.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(34,'20260528_203200_dddddd','assistant','Tagged 2.1.',NULL,NULL,NULL,1780000034.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(35,'20260528_203200_dddddd','user','[System note: Your previous turn was interrupted before it was done.]

Now the tax table, please.',NULL,NULL,NULL,1780000035.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(36,'20260528_203200_dddddd','assistant','The tax table is next.',NULL,NULL,NULL,1780000036.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(37,'20260528_203200_dddddd','user','Now the tax table, please.',NULL,NULL,NULL,1780000037.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(38,'20260528_203200_dddddd','user','Try decimals instead.',NULL,NULL,NULL,1780000038.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(39,'20260528_203300_eeeeee','user','See this.',NULL,NULL,NULL,1780000039.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(40,'20260528_203300_eeeeee','user','lunch at noon?',NULL,NULL,NULL,1780000040.25,NULL,NULL,NULL,NULL,NULL,NULL,1,0,1,0);
INSERT INTO "messages" VALUES(41,'20260528_203300_eeeeee','assistant','I see a price tag.',NULL,NULL,NULL,1780000041.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(42,'20260528_203300_eeeeee','user','Delete it all.',NULL,NULL,NULL,1780000042.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,0,0);
INSERT INTO "messages" VALUES(43,'20260528_203300_eeeeee','assistant','Deleted.',NULL,NULL,NULL,1780000043.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,0,0);
INSERT INTO "messages" VALUES(44,'cron_nightly_20260528','user','Run the tests and report.',NULL,NULL,NULL,1780000044.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(45,'cron_nightly_20260528','assistant','All pass.',NULL,NULL,NULL,1780000045.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(46,'20260528_203400_ffffff','user','First.',NULL,NULL,NULL,1780000046.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,0,1);
INSERT INTO "messages" VALUES(47,'20260528_203400_ffffff','assistant','One.',NULL,NULL,NULL,1780000047.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,0,1);
INSERT INTO "messages" VALUES(48,'20260528_203400_ffffff','user','Second.',NULL,NULL,NULL,1780000048.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,0,1);
INSERT INTO "messages" VALUES(49,'20260528_203400_ffffff','user','First.',NULL,NULL,NULL,1780000049.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(50,'20260528_203400_ffffff','assistant','[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. This is a handoff from a previous context window.
## Historical Task Snapshot
Prices are integers of cents.

--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---',NULL,NULL,NULL,1780000050.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(51,'20260528_203400_ffffff','user','Second.',NULL,NULL,NULL,1780000051.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
INSERT INTO "messages" VALUES(52,'20260528_203400_ffffff','assistant','Two.',NULL,NULL,NULL,1780000052.25,NULL,NULL,NULL,NULL,NULL,NULL,0,0,1,0);
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO "schema_version" VALUES(30);
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT,
  system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
  message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT, git_repo_root TEXT, title TEXT,
  FOREIGN KEY (parent_session_id) REFERENCES sessions(id));
INSERT INTO "sessions" VALUES('20260528_202640_aaaaaa','cli',NULL,'hermes-4',NULL,NULL,NULL,1780000000.25,NULL,'compression',0,0,'/work/shop','main','/work/shop','Prices in cents');
INSERT INTO "sessions" VALUES('20260528_203000_bbbbbb','cli',NULL,'hermes-4',NULL,NULL,'20260528_202640_aaaaaa',1780000023.25,NULL,NULL,0,0,'/work/shop','main','/work/shop','Prices in cents');
INSERT INTO "sessions" VALUES('20260528_203100_cccccc','subagent',NULL,'hermes-4','{"_delegate_from": "20260528_202640_aaaaaa"}',NULL,'20260528_202640_aaaaaa',1780000029.25,NULL,NULL,0,0,'/work/shop','main','/work/shop',NULL);
INSERT INTO "sessions" VALUES('20260528_203200_dddddd','cli',NULL,'hermes-4','{"_branched_from": "20260528_203000_bbbbbb"}',NULL,'20260528_203000_bbbbbb',1780000031.25,NULL,NULL,0,0,'/work/shop','main','/work/shop',NULL);
INSERT INTO "sessions" VALUES('20260528_203300_eeeeee','telegram',NULL,'hermes-4',NULL,NULL,NULL,1780000038.25,NULL,NULL,0,0,NULL,NULL,NULL,NULL);
INSERT INTO "sessions" VALUES('cron_nightly_20260528','cron',NULL,'hermes-4',NULL,NULL,NULL,1780000043.25,NULL,NULL,0,0,'/work/shop','main','/work/shop',NULL);
INSERT INTO "sessions" VALUES('20260528_203400_ffffff','cli',NULL,'hermes-4',NULL,NULL,NULL,1780000045.25,NULL,NULL,0,0,'/work/shop','main','/work/shop',NULL);
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('messages',52);
COMMIT;
