import { readFileSync } from "node:fs"
import { join } from "node:path"
import { runProgram, talkTo } from "../run-program.mjs"
import { platformFile } from "./programs.mjs"

const TOOLS = "Bash,Read,Skill,Task"
const STREAM = ["--print", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]

const commonArgs = (model) => ["--tools", TOOLS, "--allowedTools", TOOLS, "--model", model]

export const claudeCode = {
  format: "claude-code",
  title: "Claude Code",
  package: "@anthropic-ai/claude-code",
  program: (folder) => platformFile(folder, "@anthropic-ai", /^claude-code-/, "claude"),
  env: ({ home, url }) => ({
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, "config"),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  }),
  tools: {
    read: (file_path) => ({ name: "Read", input: { file_path } }),
    shell: (command) => ({ name: "Bash", input: { command, description: "a command" } }),
    skill: (skill) => ({ name: "Skill", input: { skill } }),
    subagent: (prompt) => ({
      name: "Task",
      input: { description: "a task", prompt, subagent_type: "general-purpose" },
    }),
  },
  skills: ".claude/skills",
  repairs: ["assistant No response requested."],
  withoutOpenCalls: true,
  command({ work, prompt, id, model = "claude-sonnet-4-5", fork, file, image }) {
    const asked = file === undefined ? prompt : `${prompt} @${file}`
    const session = id === undefined ? [] : ["--resume", id, ...(fork ? ["--fork-session"] : [])]
    const common = commonArgs(model === "other" ? "claude-opus-4-5" : model)
    if (image === undefined) return { args: ["--print", asked, "--output-format", "json", ...common, ...session] }
    const source = { type: "base64", media_type: "image/png", data: readFileSync(join(work, image), "base64") }
    const content = [
      { type: "text", text: asked },
      { type: "image", source },
    ]
    return {
      args: [...STREAM, ...common, ...session],
      input: `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`,
    }
  },
  acts: {
    compact: ({ ask }) => ask("/compact"),
    rename: ({ step, ask }) => ask(`/rename ${step.to}`),
    rewind({ agent, place }) {
      const lines = readFileSync(place.session.file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
      const prompt = lines.findLastIndex(({ type, message }) => type === "user" && typeof message.content === "string")
      const { uuid } = lines.slice(0, prompt).findLast(({ type }) => type === "assistant")
      const { work, id } = place
      const { args } = agent.command({ work, id, prompt: "in place of it" })
      return runProgram(agent, place, { args: [...args, "--resume-session-at", uuid] })
    },
    queue: ({ agent, place, step: { ask, second } }) =>
      talkTo(agent, place, { args: [...STREAM, ...commonArgs("claude-sonnet-4-5")] }, async ({ send, until }) => {
        const say = (content) => send({ type: "user", message: { role: "user", content } })
        say(ask)
        await place.model.held()
        say(second)
        place.model.release()
        await until(({ type }) => type === "result")
      }),
  },
}
