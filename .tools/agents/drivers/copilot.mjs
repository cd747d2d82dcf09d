import { dirname, join } from "node:path"
import { platformFile } from "./programs.mjs"

export const copilot = {
  format: "copilot",
  title: "Copilot CLI",
  package: "@github/copilot",
  program: (folder) => platformFile(folder, "@github", /^copilot-linux-|^copilot-darwin-|^copilot-win32-/, "copilot"),
  env: ({ home, url, program }) => ({
    HOME: home,
    COPILOT_HOME: home,
    // It unpacks 235 MB of itself into its cache: once, and not for each scene.
    XDG_CACHE_HOME: join(dirname(program), "cache"),
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: "none",
    COPILOT_MODEL: "any",
  }),
  tools: {
    read: (path) => ({ name: "view", input: { path } }),
    shell: (command) => ({ name: "bash", input: { command, description: "a command" } }),
    skill: (skill) => ({ name: "skill", input: { skill } }),
    subagent: (prompt) => ({ name: "task", input: { description: "a task", prompt, agent_type: "general-purpose" } }),
  },
  skills: ".github/skills",
  cannot: {
    fork: "a session goes on in its own folder",
    rewind: "/rewind is a screen of its terminal",
    rename: "/rename is a command of its terminal",
    queue: "--prompt takes one prompt",
  },
  // What it writes into its file is not what it sends.
  interrupted:
    /^result (?:Tool execution was interrupted before|The execution of this tool, or a previous tool was interrupted)/,
  added: [/<current_datetime>[^]*?<\/current_datetime>/, /<system_reminder>[^]*?<\/system_reminder>/],
  command({ prompt, id, model, file, image }) {
    const named = file ?? image
    const asked = named === undefined ? prompt : `${prompt} @${named}`
    const session = id === undefined ? [] : [`--resume=${id}`]
    const chosen = model === undefined ? [] : ["--model", model]
    return {
      args: [
        "--prompt",
        asked,
        ...session,
        ...chosen,
        "--allow-all-tools",
        "--allow-all-paths",
        "--disable-builtin-mcps",
      ],
    }
  },
  acts: {
    compact: ({ ask }) => ask("/compact"),
  },
}
