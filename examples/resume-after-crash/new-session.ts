/** A session from nothing: made, filled by an agent that is killed in the middle of a turn, resumed, compacted. */
import type { Sessions } from "@sessions/core"
import { runTurn } from "./agent.ts"
import * as print from "./print.ts"
import { runAndKill } from "./run-and-kill.ts"
import { standInModel } from "./stand-in-model.ts"
import { standInSummarizer } from "./stand-in-summarizer.ts"
import { tools } from "./tools.ts"

/** Small, so that a short conversation has something to compact; the default keeps the newest 20,000 tokens. */
const KEEP_RECENT_TOKENS = 30

export async function ownSession(sessions: Sessions, root: string): Promise<string> {
  const { id } = await start(sessions, root)

  print.heading("2. Stopped: SIGKILL while a tool of the second turn runs")
  const acknowledged = await runAndKill(root, id)
  console.log(`  ${acknowledged.length} entries were acknowledged before it.`)

  print.heading("3. Resumed in another process")
  const session = await sessions.open(id)
  try {
    const there = (await Promise.all(acknowledged.map((entry) => session.entry(entry)))).filter(
      (it) => it !== undefined,
    )
    for (const it of there) print.entry(it)
    console.log(
      `  ${there.length} of the ${acknowledged.length} are there. The last one waits for a result, and the turn goes on:`,
    )
    print.diagnostics((await session.context()).diagnostics, 2)
    const stop = session.on("appended", ({ entries }) => entries.forEach(print.entry))
    await runTurn(session, { model: standInModel, tools })
    stop()

    print.heading("4. Compacted, with a stand-in for the model that would summarize")
    print.compaction(await session.compact({ summarize: standInSummarizer, keepRecentTokens: KEEP_RECENT_TOKENS }))

    print.heading("5. What the model gets next")
    print.context(await session.context())

    print.heading("6. The tree")
    print.tree(await session.tree())
  } finally {
    await session.close()
  }
  return id
}

async function start(sessions: Sessions, root: string): Promise<{ id: string }> {
  print.heading(`1. A new session in ${root}`)
  const session = await sessions.create({ cwd: process.cwd(), title: "First light" })
  console.log(`  ${session.id}`)
  await session.close()
  return session
}
