import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { talkTo } from "../run-program.mjs"
import { packageFile } from "./programs.mjs"

const COMMON = ["--auth-type", "openai", "--yolo"]

/**
 * Its mode for editors has what -p has not. `call`: a method and its parameters, whose result it gives. `typed`: what a person types meanwhile, which it asks
 * for behind each step.
 */
function withServer({ agent, place }, work) {
  const args = [agent.at, ...COMMON, "--acp"]
  return talkTo(agent, place, { program: process.execPath, args }, async ({ send, until }) => {
    const typed = []
    let last = 0
    const answer = ({ id, method }) =>
      method === "craft/drainMidTurnQueue"
        ? { id, result: { messages: typed.splice(0), hasQueuedPrompt: false } }
        : { id, error: { code: -32601, message: "Method not found" } }
    const call = async (method, params) => {
      const id = ++last
      send({ jsonrpc: "2.0", id, method, params })
      const { error, result } = await until((line) => {
        if (line.method === undefined) return line.id === id
        if (line.id !== undefined) send({ jsonrpc: "2.0", ...answer(line) })
        return false
      })
      if (error !== undefined) throw new Error(`${method}: ${error.message} ${JSON.stringify(error.data)}`)
      return result
    }
    await call("initialize", { protocolVersion: 1, clientCapabilities: {} })
    const session = { sessionId: place.id, cwd: place.work, mcpServers: [] }
    const opened = await call(place.id === undefined ? "session/new" : "session/load", session)
    await work({ call, typed, sessionId: place.id ?? opened.sessionId })
  })
}

export const qwenCode = {
  format: "qwen-code",
  title: "Qwen Code",
  package: "@qwen-code/qwen-code",
  program: (folder) => packageFile(folder, "@qwen-code", "qwen-code", "cli-entry.js"),
  prepare({ home }) {
    mkdirSync(join(home, ".qwen"))
    // An agent beside the conversation, that collects memories, would have the prompts of the scene as well, and the program waits for its end.
    const memory = { enableManagedAutoMemory: false, enableManagedAutoDream: false }
    writeFileSync(join(home, ".qwen", "settings.json"), JSON.stringify({ memory }))
  },
  env: ({ home, url }) => ({
    HOME: home,
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_MODEL: "any",
    QWEN_TELEMETRY_ENABLED: "false",
  }),
  tools: {
    read: (file_path) => ({ name: "read_file", input: { file_path } }),
    shell: (command) => ({ name: "run_shell_command", input: { command, is_background: false } }),
    subagent: (prompt) => ({
      name: "agent",
      input: { description: "a task", prompt, subagent_type: "general-purpose" },
    }),
  },
  // It takes a summary that saves tokens only, and counts 1000 of what it has summarized for its own instructions.
  usage: { input: 10_000, output: 2 },
  cannot: {
    separators:
      "it takes U+2028 and U+2029 for ends of lines of its own file, and sends nothing from before such a line",
    move: "a session belongs to the project of its folder",
  },
  command({ program, prompt, id, model, fork, file, image }) {
    const named = file ?? image
    const asked = named === undefined ? prompt : `${prompt} @${named}`
    const session = id === undefined ? [] : ["--resume", id, ...(fork ? ["--fork-session"] : [])]
    const chosen = model === undefined ? [] : ["--model", model]
    return {
      program: process.execPath,
      args: [program, ...COMMON, ...session, ...chosen, "-p", asked],
    }
  },
  acts: {
    compact: ({ ask }) => ask("/compress"),
    rename: (o) =>
      withServer(o, ({ call, sessionId }) => call("renameSession", { sessionId, cwd: o.place.work, title: o.step.to })),
    rewind: (o) =>
      withServer(o, async ({ call, sessionId }) => {
        // The second prompt: the last one of the scene.
        await call("rewindSession", { sessionId, targetTurnIndex: 1 })
        await call("session/prompt", { sessionId, prompt: [{ type: "text", text: "in place of it" }] })
      }),
    queue: (o) =>
      withServer(o, async ({ call, typed, sessionId }) => {
        const end = call("session/prompt", { sessionId, prompt: [{ type: "text", text: o.step.ask }] })
        await o.place.model.held()
        typed.push(o.step.second)
        o.place.model.release()
        await end
      }),
  },
}
