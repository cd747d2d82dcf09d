/** Imports the session file of another agent, adds a turn and compacts. The file itself is only read. */
import { createReadStream } from "node:fs"
import { hasCode, type Session, type Sessions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { importSession, sessionTree } from "@sessions/core/transfer"
import { runTurn } from "./agent.ts"
import { openBank } from "./bank.ts"
import * as print from "./print.ts"
import { RESUMED_PROMPT, standInModel } from "./stand-in-model.ts"
import { standInSummarizer } from "./stand-in-summarizer.ts"
import { createCalls, createTools } from "./tools.ts"

/** The library's default. A shorter conversation keeps half of its tokens, so there is something to compact. */
const KEEP_RECENT_TOKENS = 20_000

export async function importAndResume(sessions: Sessions, root: string, file: string): Promise<string> {
  // A function, because the file can then be read twice instead of being kept in memory.
  const { id, from, lines, diagnostics } = await importSession(sessions, () => createReadStream(file))
  print.heading(`1. Import ${file} into ${root}`)
  console.log(`  ${id}: ${lines} lines, from ${from.format} version ${from.version}`)
  print.diagnostics(diagnostics, 3)

  const session = await sessions.open(id)
  try {
    print.heading("2. The context that a model receives")
    const before = await session.context()
    print.context(before, 3)
    print.diagnostics(before.diagnostics, 3)

    print.heading("3. A new turn")
    const stop = session.on("appended", ({ entries }) => entries.forEach(print.entry))
    const bank = openBank(root)
    await runTurn(session, { model: standInModel, tools: createTools(bank), calls: createCalls(bank) }, RESUMED_PROMPT)
    stop()

    print.heading("4. Compaction, with a stand-in for the model that summarizes")
    await compactOnce(session)
    print.context(await session.context(), 3)

    print.heading("5. The tree")
    print.tree(await sessionTree(session))
  } finally {
    await session.close()
  }
  return id
}

/** A conversation of a few words has nothing to compact. That is not an error of this example. */
async function compactOnce(session: Session): Promise<void> {
  try {
    const { tokens } = await session.context()
    const keepRecentTokens = Math.min(KEEP_RECENT_TOKENS, Math.floor(tokens / 2))
    print.compaction(await compact(session, { summarize: standInSummarizer, keepRecentTokens }))
  } catch (error) {
    if (!hasCode(error, "compaction_failed")) throw error
    console.log(`  ${error.message}`)
  }
}
