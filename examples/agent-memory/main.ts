/**
 * An agent that edits a file, remembers what it was told in a later session, finds both sessions again, and takes its edit back. Keeps
 * everything below the current folder: the file in ./project, the memory in ./memory, the rest in ./.sessions.
 */
import { mkdir, readFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { createCheckpoints } from "@sessions/checkpoints"
import { createWorkFiles } from "@sessions/checkpoints/node"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { recordPrompts } from "@sessions/history"
import { createSqliteHistory } from "@sessions/history/sqlite"
import { createConsolidation, createRecall } from "@sessions/recall"
import { createFolderMemory } from "@sessions/recall/node"
import { createSearch } from "@sessions/search"
import { createSqliteIndex } from "@sessions/search/sqlite"
import { type Agent, runTurn } from "./agent.ts"
import { scriptedAsk, scriptedModel, scriptedTidy } from "./scripted.ts"

const [cwd, root] = [resolve("project"), resolve(".sessions")]
await mkdir(cwd, { recursive: true })

const storage = createFileStorage({ root })
const search = createSearch({ storage, index: createSqliteIndex({ folder: join(root, ".search") }) })
const history = createSqliteHistory({ path: join(root, "history.db") })
const sessions = createSessions({ storage, hooks: search.hooks })
const files = createWorkFiles(cwd)
const checkpoints = createCheckpoints({ storage, files })
const memory = createFolderMemory("memory")
// A short conversation, so the gate is lower than its default of 20 messages.
const recall = createRecall({ files: memory, scope: cwd, ask: scriptedAsk, minMessages: 4, minToolCalls: 1 })
recall.on("extracted", ({ facts }) => {
  for (const { fact } of facts) console.log(`remembered: ${fact}`)
})

async function startAgent(): Promise<Agent> {
  const session = await sessions.create({ cwd })
  recordPrompts(session, history)
  return { session, checkpoints: checkpoints.of(session), recall, files, model: scriptedModel }
}

async function printGreeting(when: string): Promise<void> {
  console.log(`${when}: ${(await readFile(join(cwd, "greeting.txt"), "utf8")).trim()}`)
}

// The first session. After the turn, the recall asks a model what is worth remembering.
const first = await startAgent()
await runTurn(first, 'Write "hello" as a greeting. I want greetings in capitals.')
await recall.settled()
await printGreeting("first session")

// A later session: its system prompt has the memory.
const second = await startAgent()
const asked = await runTurn(second, 'Now write "good morning" instead.')
await printGreeting("second session")

// What people typed, newest first, and what was said in all sessions.
await history.flush()
for (const { prompt } of await history.recent()) console.log(`typed: ${prompt}`)
const { hits } = await search.search("greet capitals", { cwd })
for (const { session, snippet } of hits) {
  console.log(
    `found in the ${session === first.session.id ? "first" : "second"} session: ${snippet.map(({ text }) => text).join("")}`,
  )
}

// Between conversations an agent tidies the memory; it is forced here, because a day has not passed.
await recall.settled()
const consolidation = createConsolidation({
  sessions,
  files: memory,
  scope: cwd,
  run: scriptedTidy,
  search: async (words) => (await search.search(words, { cwd })).hits,
})
const { written } = await consolidation.consolidate({ force: true })
console.log(`tidied: ${written.join()}`)

// The edit of the second session is taken back, with the conversation; and that again.
const { undo } = await second.checkpoints.rewind(asked, { conversation: true })
await printGreeting("after the rewind")
console.log(`messages in the context: ${(await second.session.context()).messages.length}`)
if (undo !== undefined) await second.checkpoints.rewind(undo)
await printGreeting("after its undo")

await history.close()
await search.close()
await sessions.close()
