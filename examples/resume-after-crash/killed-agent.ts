/** Runs the agent in its own process, which is killed during its second turn. Prints the ids of acknowledged entries. */
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { runTurn } from "./agent.ts"
import { type Bank, openBank } from "./bank.ts"
import { FIRST_PROMPT, SECOND_PROMPT, standInModel } from "./stand-in-model.ts"
import { createCalls, createTools } from "./tools.ts"

const [root = ".sessions", id = ""] = process.argv.slice(2)

const bank = openBank(root)
/** The answer of the bank takes a minute, so the process is killed when the charge is made and its result is not in the log. */
const slow: Bank = {
  ...bank,
  async charge(key, amount) {
    await bank.charge(key, amount)
    process.stdout.write("charged\n")
    return new Promise((resolve) => setTimeout(resolve, 60_000, "late"))
  },
}

const sessions = createSessions({ storage: createFileStorage({ root }) })
const session = await sessions.open(id)
session.on("appended", ({ entries }) => {
  for (const { id } of entries) process.stdout.write(`${id}\n`)
})
const agent = { model: standInModel, tools: createTools(slow), calls: createCalls(slow) }
await runTurn(session, agent, FIRST_PROMPT)
await runTurn(session, agent, SECOND_PROMPT)
