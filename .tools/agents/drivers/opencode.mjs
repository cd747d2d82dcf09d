import { join } from "node:path"
import { serve } from "../run-program.mjs"
import { packageFile, platformFile } from "./programs.mjs"

const model = (name) => ({
  name,
  limit: { context: 100_000, output: 1000 },
  modalities: { input: ["text", "image"], output: ["text"] },
  attachment: true,
  reasoning: true,
  tool_call: true,
})

/** Its server has what `opencode run` has not. */
function withServer({ agent, place }, work) {
  const args = ["serve", "--hostname", "127.0.0.1", "--port", "0"]
  const ready = (line) => /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
  return serve(agent, place, { args }, ready, async (url) => {
    const call = async (path, method, body) => {
      const init =
        body === undefined
          ? { method }
          : { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } }
      const response = await fetch(`${url}${path}?directory=${encodeURIComponent(place.work)}`, init)
      const text = await response.text()
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`)
      return text === "" ? undefined : JSON.parse(text)
    }
    const get = (path) => call(path, "GET")
    const post = (path, body, method = "POST") => call(path, method, body)
    await work({ get, post, id: place.id })
  })
}

export const opencode = {
  format: "opencode",
  title: "opencode",
  package: "opencode-ai",
  program: (folder) =>
    packageFile(
      folder,
      `opencode-${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`,
      "bin",
      "opencode",
    ) ?? platformFile(folder, ".", /^opencode-/, "bin", "opencode"),
  env({ home, url }) {
    const provider = {
      npm: "@ai-sdk/openai-compatible",
      name: "fake",
      options: { baseURL: `${url}/v1`, apiKey: "none" },
      models: { any: model("any"), other: model("other") },
    }
    const config = {
      provider: { fake: provider },
      model: "fake/any",
      small_model: "fake/any",
      autoupdate: false,
      share: "disabled",
      permission: { "*": "allow" },
    }
    const places = ["DATA", "CONFIG", "STATE", "CACHE"].map((name) => [`XDG_${name}_HOME`, join(home, name)])
    return {
      HOME: home,
      ...Object.fromEntries(places),
      OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    }
  },
  tools: {
    read: (filePath) => ({ name: "read", input: { filePath } }),
    shell: (command) => ({ name: "bash", input: { command, description: "a command" } }),
    subagent: (prompt) => ({ name: "task", input: { description: "a task", prompt, subagent_type: "general" } }),
  },
  cannot: { move: "a session goes on in the folder in which it began, and fails if that is not there" },
  command({ prompt, id, model: name = "any", fork, file, image }) {
    const named = file ?? image
    const session = id === undefined ? [] : ["--session", id, ...(fork ? ["--fork"] : [])]
    const attached = named === undefined ? [] : ["--file", named]
    return { args: ["run", ...session, "--model", `fake/${name}`, ...attached, "--", prompt] }
  },
  acts: {
    compact: (o) =>
      withServer(o, ({ post, id }) => post(`/session/${id}/summarize`, { providerID: "fake", modelID: "any" })),
    rename: (o) => withServer(o, ({ post, id }) => post(`/session/${id}`, { title: o.step.to }, "PATCH")),
    rewind: (o) =>
      withServer(o, async ({ get, post, id }) => {
        const messages = await get(`/session/${id}/message`)
        const { info } = messages.findLast((message) => message.info.role === "user")
        await post(`/session/${id}/revert`, { messageID: info.id })
      }),
    queue: (o) =>
      withServer(o, async ({ post }) => {
        const { id } = await post("/session", {})
        const say = (text) =>
          post(`/session/${id}/message`, {
            model: { providerID: "fake", modelID: "any" },
            parts: [{ type: "text", text }],
          })
        const first = say(o.step.ask)
        await o.place.model.held()
        const second = say(o.step.second)
        o.place.model.release()
        await Promise.all([first, second])
      }),
  },
}
