import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { talkTo } from "../run-program.mjs"
import { existing, platformFile } from "./programs.mjs"

function settings(url, model = "any") {
  const provider = `model_providers.acme={name="acme",base_url="${url}/v1",wire_api="responses",env_key="FAKE_KEY"}`
  return [provider, 'model_provider="acme"', `model="${model}"`].flatMap((one) => ["-c", one])
}

/** Its server has what `codex exec` has not. `work({ call, until })`, where `call` is a method with its parameters. */
function withServer({ agent, place }, work) {
  return talkTo(agent, place, { args: ["app-server", ...settings(place.model.url)] }, async ({ send, until }) => {
    let last = 0
    const call = async (method, params) => {
      const id = ++last
      send({ id, method, params })
      const { error, result } = await until((line) => line.id === id && line.method === undefined)
      if (error !== undefined) throw new Error(`${method}: ${error.message}`)
      return result
    }
    await call("initialize", { clientInfo: { name: "scenes", title: "scenes", version: "1" } })
    send({ method: "initialized" })
    await work({ call, until, threadId: place.id })
  })
}

const isDone = ({ method }) => method === "turn/completed"

export const codex = {
  format: "codex",
  title: "Codex",
  package: "@openai/codex",
  program: (folder) => {
    const platform = platformFile(folder, "@openai", /^codex-/, "vendor")
    const [target] = platform === undefined ? [] : readdirSync(platform)
    return target === undefined ? undefined : existing(join(platform, target, "bin", "codex"))
  },
  prepare: ({ home }) => mkdirSync(join(home, "codex")),
  env: ({ home }) => ({ HOME: home, CODEX_HOME: join(home, "codex"), FAKE_KEY: "none" }),
  tools: {
    read: (file) => ({ name: "exec_command", input: { cmd: `cat '${file}'` } }),
    shell: (cmd) => ({ name: "exec_command", input: { cmd } }),
  },
  cannot: {
    file: "a file is named in the prompt, and read by a call",
    subagent: "it does not wait for the answer of an agent that it has started",
  },
  command({ url, prompt, id, model = "any", image }) {
    const common = [
      "--json",
      "--skip-git-repo-check",
      ...settings(url, model),
      ...(image === undefined ? [] : ["-i", image]),
    ]
    const session = id === undefined ? ["--sandbox", "danger-full-access"] : []
    const start = id === undefined ? ["exec"] : ["exec", "resume"]
    return { args: [...start, ...common, ...session, "--", ...(id === undefined ? [] : [id]), prompt] }
  },
  acts: {
    compact: (o) =>
      withServer(o, async ({ call, until, threadId }) => {
        await call("thread/resume", { threadId })
        await call("thread/compact/start", { threadId })
        await until(isDone)
      }),
    rewind: (o) =>
      withServer(o, async ({ call, threadId }) => {
        await call("thread/resume", { threadId })
        const { data } = await call("thread/turns/list", { threadId, sortDirection: "desc", limit: 1 })
        await call("thread/revert", { threadId, beforeTurnId: data[0].id })
      }),
    rename: (o) => withServer(o, ({ call, threadId }) => call("thread/name/set", { threadId, name: o.step.to })),
    fork: (o) =>
      withServer(o, async ({ call, until, threadId }) => {
        const { thread } = await call("thread/fork", { threadId })
        const input = [{ type: "text", text: "in the fork" }]
        await call("turn/start", { threadId: thread.id, input })
        await until(isDone)
      }),
    queue: (o) =>
      withServer(o, async ({ call, until }) => {
        const { thread } = await call("thread/start", {
          cwd: o.place.work,
          sandbox: "danger-full-access",
          approvalPolicy: "never",
        })
        const threadId = thread.id
        const { turn } = await call("turn/start", { threadId, input: [{ type: "text", text: o.step.ask }] })
        await o.place.model.held()
        await call("turn/steer", { threadId, expectedTurnId: turn.id, input: [{ type: "text", text: o.step.second }] })
        o.place.model.release()
        await until(isDone)
      }),
  },
}
