/** Creates a session, runs an agent that is killed in the middle of a turn, resumes the turn and compacts. */
import type { Sessions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { sessionTree } from "@sessions/core/transfer"
import { runTurn } from "./agent.ts"
import { openBank } from "./bank.ts"
import * as print from "./print.ts"
import { runAndKill } from "./run-and-kill.ts"
import { standInModel } from "./stand-in-model.ts"
import { standInSummarizer } from "./stand-in-summarizer.ts"
import { createCalls, createTools } from "./tools.ts"

/** Low, so a short conversation has something to compact. The default is 20,000. */
const KEEP_RECENT_TOKENS = 30

export async function createAndResume(sessions: Sessions, root: string): Promise<string> {
  const { id } = await start(sessions, root)

  print.heading("2. Killed with SIGKILL while a tool of the second turn runs")
  const bank = openBank(root)
  const before = await bank.count()
  const acknowledged = await runAndKill(root, id)
  const charges = async (): Promise<string> => `charges in the bank: ${(await bank.count()) - before}`
  console.log(`  ${acknowledged.length} entries were acknowledged before the kill; ${await charges()}`)

  print.heading("3. Resumed in another process")
  const session = await sessions.open(id)
  try {
    const stored = (await Promise.all(acknowledged.map((entry) => session.entry(entry)))).filter(
      (it) => it !== undefined,
    )
    for (const it of stored) print.entry(it)
    console.log(`  ${stored.length} of the ${acknowledged.length} are in the log. What it says of the call at its end:`)
    for (const call of (await session.callStates())?.calls ?? []) print.call(call)
    print.diagnostics((await session.context()).diagnostics, 2)
    console.log("  The bank is asked by the key of the call, and the turn resumes:")
    const stop = session.on("appended", ({ entries }) => entries.forEach(print.entry))
    await runTurn(session, { model: standInModel, tools: createTools(bank), calls: createCalls(bank) })
    stop()
    console.log(`  ${await charges()}`)

    print.heading("4. Compaction, with a stand-in for the model that summarizes")
    print.compaction(await compact(session, { summarize: standInSummarizer, keepRecentTokens: KEEP_RECENT_TOKENS }))

    print.heading("5. The context that the model receives next")
    print.context(await session.context())

    print.heading("6. The tree")
    print.tree(await sessionTree(session))
  } finally {
    await session.close()
  }
  return id
}

async function start(sessions: Sessions, root: string): Promise<{ id: string }> {
  print.heading(`1. A new session in ${root}`)
  const session = await sessions.create({ cwd: process.cwd(), title: "Resume after a crash" })
  console.log(`  ${session.id}`)
  await session.close()
  return session
}
