import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { talkTo } from "../run-program.mjs"
import { packageFile } from "./programs.mjs"

const model = (id) => ({
  id,
  name: id,
  reasoning: false,
  input: ["text", "image"],
  contextWindow: 100_000,
  maxTokens: 1000,
})

/** Its mode for programs has what `--print` has not. `call`: a command, whose answer it gives. */
function withServer({ agent, place }, work) {
  const session = place.id === undefined ? [] : ["--session", place.id]
  const args = [agent.at, "--mode", "rpc", ...session, "--provider", "fake", "--model", "any", "--offline"]
  return talkTo(agent, place, { program: process.execPath, args }, async ({ send, until }) => {
    const call = async (command) => {
      send({ ...command, id: command.type })
      const { success, error, data } = await until(
        ({ type, command: of }) => type === "response" && of === command.type,
      )
      if (!success) throw new Error(`${command.type}: ${error}`)
      return data
    }
    await work({ call, until })
  })
}

export const pi = {
  format: "pi",
  title: "pi",
  package: "@earendil-works/pi-coding-agent",
  program: (folder) => packageFile(folder, "@earendil-works", "pi-coding-agent", "dist", "bundle", "cli.js"),
  prepare({ home, url }) {
    const agent = join(home, "agent")
    mkdirSync(agent)
    const models = [model("any"), model("other")]
    const fake = { baseUrl: `${url}/v1`, apiKey: "none", api: "openai-completions", models }
    writeFileSync(join(agent, "models.json"), JSON.stringify({ providers: { fake } }))
    // It compacts no session that is shorter than what it keeps.
    writeFileSync(join(agent, "settings.json"), JSON.stringify({ compaction: { keepRecentTokens: 1 } }))
  },
  env: ({ home }) => ({ HOME: home, PI_CODING_AGENT_DIR: join(home, "agent"), PI_OFFLINE: "1" }),
  /** Core reads its logs, so `discover` does not look for them. */
  sessions({ home }) {
    const root = join(home, "agent", "sessions")
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".jsonl"))
    const found = files.map((path) => join(root, path)).map((file) => ({ file, time: statSync(file).mtimeMs }))
    found.sort((a, b) => b.time - a.time)
    return found.map(({ file }) => ({ file, id: JSON.parse(readFileSync(file, "utf8").split("\n")[0]).id }))
  },
  tools: {
    read: (path) => ({ name: "read", input: { path } }),
    shell: (command) => ({ name: "bash", input: { command } }),
  },
  cannot: {
    subagent: "it has no subagents",
    move: "it asks a person whether a session of another folder is to be forked into this one",
  },
  command({ program, prompt, id, model: name = "any", fork, file, image }) {
    const named = file ?? image
    const session = id === undefined ? [] : [fork ? "--fork" : "--session", id]
    const attached = named === undefined ? [] : [`@${named}`]
    const args = ["--print", ...session, "--provider", "fake", "--model", name, "--offline", ...attached, prompt]
    return { program: process.execPath, args: [program, ...args] }
  },
  acts: {
    compact: (o) => withServer(o, ({ call }) => call({ type: "compact" })),
    rename: (o) => withServer(o, ({ call }) => call({ type: "set_session_name", name: o.step.to })),
    rewind: (o) =>
      withServer(o, async ({ call, until }) => {
        const { messages } = await call({ type: "get_fork_messages" })
        await call({ type: "fork", entryId: messages.at(-1).entryId })
        await call({ type: "prompt", message: "in place of it" })
        await until(({ type }) => type === "agent_end")
      }),
    queue: (o) =>
      withServer(o, async ({ call, until }) => {
        await call({ type: "prompt", message: o.step.ask })
        await o.place.model.held()
        await call({ type: "steer", message: o.step.second })
        o.place.model.release()
        await until(({ type }) => type === "agent_end")
      }),
  },
}
