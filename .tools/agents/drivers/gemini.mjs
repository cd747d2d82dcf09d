import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { packageFile } from "./programs.mjs"

function configure(home, more = {}) {
  const settings = {
    privacy: { usageStatisticsEnabled: false },
    security: { auth: { selectedType: "gemini-api-key" } },
    general: { disableAutoUpdate: true },
    ...more,
  }
  writeFileSync(join(home, ".gemini", "settings.json"), JSON.stringify(settings))
}

export const gemini = {
  format: "gemini",
  title: "Gemini CLI",
  package: "@google/gemini-cli",
  program: (folder) => packageFile(folder, "@google", "gemini-cli", "bundle", "gemini.js"),
  prepare({ home }) {
    mkdirSync(join(home, ".gemini"))
    configure(home)
  },
  env: ({ home, url }) => ({
    HOME: home,
    GEMINI_CLI_HOME: home,
    GEMINI_API_KEY: "none",
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    GEMINI_CLI_NO_RELAUNCH: "true",
  }),
  tools: {
    read: (file_path) => ({ name: "read_file", input: { file_path } }),
    shell: (command) => ({ name: "run_shell_command", input: { command } }),
    subagent: (prompt) => ({ name: "invoke_agent", input: { agent_name: "generalist", prompt } }),
  },
  once: true,
  repairs: ["assistant [The previous response was interrupted before it completed.]"],
  cannot: {
    fork: "a session goes on in its own file",
    rename: "sessions have no names",
    rewind: "/rewind is a screen of its terminal",
    queue: "-p takes one prompt",
    separators:
      "it takes U+2028 and U+2029 for ends of lines of its own file, and cannot read the message of such a line",
    move: "a session belongs to the project of its folder",
  },
  command({ program, prompt, id, model = "gemini-2.5-pro", file, image }) {
    const named = file ?? image
    const asked = named === undefined ? prompt : `${prompt} @${named}`
    const session = id === undefined ? [] : ["--resume", id]
    const args = [...session, "--prompt", asked, "--yolo", "--model", model === "other" ? "gemini-2.5-flash" : model]
    return { program: process.execPath, args: [program, ...args, "--output-format", "json"] }
  },
  acts: {
    // With --prompt, /compress runs beside a request that has it as a prompt. But from a share of the model's window on, each prompt is preceded by a
    // compaction, which it takes if the history gets shorter: there must be something long before what it keeps.
    async compact({ ask, place: { home } }) {
      await ask(`much to read: ${Array.from({ length: 300 }, (_, i) => `line ${i}`).join(" ")}`)
      await ask("a question behind it")
      configure(home, { model: { compressionThreshold: 0.0001 } })
      await ask("a question that it compacts for")
      configure(home)
    },
  },
}
