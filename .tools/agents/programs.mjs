// The agents whose programs are on a registry: how each is asked and resumed without its own model, and where its sessions are.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const NOTES = "notes.txt"

/** What the tool of each agent is asked to read. */
export function writeWorkFiles(folder) {
  writeFileSync(join(folder, NOTES), "pears and plums\n")
}

/**
 * - `format`, `title`: of our format; `package`: its name on the registry; `program(folder)`: the program in the folder of the installation
 * - `prepare(folder)`: makes what the agent does not make itself
 * - `tool(folder)`: a call that the agent makes without a question
 * - `command({ program, url, folder, prompt, id })`: how it is asked; with `id` it resumes that session. `env` is all of its environment beside PATH
 * - `isSession(path)`: whether a file in `folder` is one of its sessions; `idOf(path, text)`: the id by which it resumes it
 * - `isWritten`: whether we write its sessions, and `fileOf({ folder, id, createdAt })`, where one belongs
 */
export const AGENTS = [
  {
    format: "claude-code",
    title: "Claude Code",
    package: "@anthropic-ai/claude-code",
    program: (folder) => firstOf(folder, "@anthropic-ai", /^claude-code-/, "claude"),
    tool: (folder) => ({ name: "Read", input: { file_path: join(folder, NOTES) } }),
    command: ({ program, url, folder, prompt, id }) => ({
      program,
      args: [
        "--print",
        prompt,
        "--output-format",
        "json",
        "--tools",
        "Read",
        "--allowedTools",
        "Read",
        ...(id === undefined ? [] : ["--resume", id]),
      ],
      env: {
        HOME: folder,
        CLAUDE_CONFIG_DIR: join(folder, "config"),
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
      },
    }),
    isSession: (path) => /^config\/projects\/[^/]+\/[^/]+\.jsonl$/.test(path),
    idOf: (path) => path.replace(/^.*\/|\.jsonl$/g, ""),
    fileOf: ({ folder, id }) =>
      join(folder, "config", "projects", folder.replaceAll(/[^a-zA-Z0-9]/g, "-"), `${id}.jsonl`),
  },
  {
    format: "codex",
    title: "Codex",
    package: "@openai/codex",
    program: (folder) => {
      const platform = firstOf(folder, "@openai", /^codex-/, "vendor")
      const [target] = platform === undefined ? [] : readdirSync(platform)
      return target === undefined ? undefined : existing(join(platform, target, "bin", "codex"))
    },
    prepare: (folder) => mkdirSync(join(folder, "codex")),
    tool: () => ({ name: "exec_command", input: { cmd: `cat ${NOTES}` } }),
    command({ program, url, folder, prompt, id }) {
      const provider = `model_providers.acme={name="acme",base_url="${url}/v1",wire_api="responses",env_key="FAKE_KEY"}`
      const settings = [provider, 'model_provider="acme"', 'model="any"'].flatMap((one) => ["-c", one])
      const common = ["--json", "--skip-git-repo-check", ...settings]
      const args =
        id === undefined
          ? ["exec", ...common, "--sandbox", "danger-full-access", prompt]
          : ["exec", "resume", id, ...common, prompt]
      return { program, args, env: { HOME: folder, CODEX_HOME: join(folder, "codex"), FAKE_KEY: "none" } }
    },
    isSession: (path) => /^codex\/sessions\/.*\/rollout-[^/]*\.jsonl$/.test(path),
    idOf: (path) => /([0-9a-f-]{36})\.jsonl$/.exec(path)[1],
    fileOf: ({ folder, id, createdAt }) =>
      join(
        folder,
        "codex",
        "sessions",
        ...createdAt.slice(0, 10).split("-"),
        `rollout-${createdAt.slice(0, 19).replaceAll(":", "-")}-${id}.jsonl`,
      ),
  },
  {
    format: "qwen-code",
    title: "Qwen Code",
    package: "@qwen-code/qwen-code",
    program: (folder) => existing(join(folder, "node_modules", "@qwen-code", "qwen-code", "cli-entry.js")),
    tool: (folder) => ({ name: "read_file", input: { file_path: join(folder, NOTES) } }),
    command: ({ program, url, folder, prompt, id }) => ({
      program: process.execPath,
      args: [program, "--auth-type", "openai", "--yolo", ...(id === undefined ? [] : ["--resume", id]), "-p", prompt],
      env: {
        HOME: folder,
        OPENAI_API_KEY: "none",
        OPENAI_BASE_URL: `${url}/v1`,
        OPENAI_MODEL: "any",
        QWEN_TELEMETRY_ENABLED: "false",
      },
    }),
    isSession: (path) => /^\.qwen\/projects\/[^/]+\/chats\/[^/]+\.jsonl$/.test(path),
    idOf: (path) => path.replace(/^.*\/|\.jsonl$/g, ""),
  },
]

function firstOf(folder, scope, name, file) {
  const scoped = join(folder, "node_modules", scope)
  const [found] = existsSync(scoped) ? readdirSync(scoped).filter((one) => name.test(one)) : []
  return found === undefined ? undefined : existing(join(scoped, found, file))
}

function existing(path) {
  return existsSync(path) ? path : undefined
}
