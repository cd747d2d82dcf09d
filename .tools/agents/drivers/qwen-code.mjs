import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { packageFile } from "./programs.mjs"

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
  cannot: {
    fork: "its --fork-session is of its terminal",
    rewind: "/rewind is a screen of its terminal",
    rename: "/rename is a command of its terminal",
    queue: "-p takes one prompt",
    separators:
      "it takes U+2028 and U+2029 for ends of lines of its own file, and sends nothing from before such a line",
    move: "a session belongs to the project of its folder",
  },
  command({ program, prompt, id, model, file, image }) {
    const named = file ?? image
    const asked = named === undefined ? prompt : `${prompt} @${named}`
    const session = id === undefined ? [] : ["--resume", id]
    const chosen = model === undefined ? [] : ["--model", model]
    return {
      program: process.execPath,
      args: [program, "--auth-type", "openai", "--yolo", ...session, ...chosen, "-p", asked],
    }
  },
  acts: {
    compact: ({ ask }) => ask("/compress"),
  },
}
