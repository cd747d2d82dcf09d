/**
 * One mistake for each task, as someone who misses a sentence of it makes it: a text of the reference solution, and what stands there instead. The grader
 * must find it.
 */
export const mistakes = {
  "01-page-chat": ["chat.mjs", "      await session.refresh()\n", ""],
  "02-resume": ["main.mjs", 'sessions.open("conversation")', 'sessions.openOrCreate("conversation")'],
  "03-killed-turn": [
    "agent.mjs",
    "    await turn.append(entry)\n    const calls = toolCalls(entry)\n",
    "    const calls = toolCalls(entry)\n    if (calls.length === 0) await turn.append(entry)\n",
  ],
  "04-two-processes": ["worker.mjs", ', { onConflict: "rebase" }', ""],
  "05-edit-question": ["edit.mjs", ", { at: parentId }", ""],
  "06-context-window": ["chat.mjs", "      contextWindow: window,\n", ""],
  "07-chat-list": ["chats.mjs", ', { source: "auto" }', ""],
  "08-clean-up": ["cleanup.mjs", "if (!dryRun) await collect(sessions, { withoutSessions: removed.length > 0 })\n", ""],
  "09-claude-to-codex": ["move.mjs", ', { redact: (text) => text.replaceAll(/sk-[A-Za-z0-9]+/g, "[key]") }', ""],
  "10-s3-handler": ["handler.mjs", '{ type: "message", id, message', '{ type: "message", message'],
  "11-postgres-ratings": ["ratings.ts", "`tenant_${tenant}`", '"tenants"'],
  "12-sqlite-search": ["find.mjs", "cursor = page.next", "cursor = undefined"],
  "13-openai-tools": ["agent.mjs", "{ isError: true }", "{}"],
  "14-anthropic-stream": ["ask.mjs", "cache: true", "cache: false"],
  "15-ai-sdk-route": [
    "routes.mjs",
    ": await store.addMessage({ id, message })",
    ": (await store.addMessage({ id, message }), [message])",
  ],
  "16-langgraph": ["graph.mjs", ", keep: 20", ""],
  "17-openai-agents": [
    "chat.mjs",
    "listAgentSessions(sessions, { metadata: { user }, ",
    "listAgentSessions(sessions, { ",
  ],
  "18-http-tenants": ["server.mjs", "join(folder, user)", 'join(folder, "ada")'],
  "19-offline-merge": ["sync.mjs", "    console.error(`${id}: ${error.message}`)\n", "    throw error\n"],
  "20-redis-storage": ["storage.mjs", "        await redis.watch(...watched)\n", ""],
}
