/** Runs the agent in its own process, which is killed during its second turn. Prints the ids of acknowledged entries. */
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { runTurn } from "./agent.ts"
import { FIRST_PROMPT, SECOND_PROMPT, standInModel } from "./stand-in-model.ts"
import { tools } from "./tools.ts"

const [root = ".sessions", id = ""] = process.argv.slice(2)

/** A tool that takes a minute, so the process is killed while it runs. */
const slow = async (): Promise<string> => {
  await new Promise((resolve) => setTimeout(resolve, 60_000))
  return "done"
}

const sessions = createSessions({ storage: createFileStorage({ root }) })
const session = await sessions.open(id)
session.on("appended", ({ entries }) => {
  for (const { id } of entries) process.stdout.write(`${id}\n`)
})
await runTurn(session, { model: standInModel, tools }, FIRST_PROMPT)
process.stdout.write("second turn\n")
await runTurn(session, { model: standInModel, tools: { ...tools, count_words: slow } }, SECOND_PROMPT)
