/**
 * Gemini CLI: `tmp/<project>/chats/session-<time>-<id>.jsonl`, older ones `.json`; subagents in folders beside them. The agent gives each
 * folder a name, `<project>`, which it finds in `projects.json` or by the path in `tmp/<project>/.project_root`.
 */
import { readdir, readFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { gemini, geminiPathOf, PROJECT_ROOT } from "@sessions/formats/gemini"
import { type Agent, type AgentSystem, shellWord, type Target } from "./agent.ts"
import { sessionFiles } from "./session-files.ts"

export const geminiAgent: Agent = {
  format: gemini,
  sessions: (system) =>
    sessionFiles(join(folderOf(system), "tmp"), (path) => /^[^/]+\/chats\/session-[^/]+\.jsonl?$/.test(path)),
}

export const geminiTarget: Target = {
  format: gemini,
  async place({ id, cwd, createdAt }, system) {
    const folder = folderOf(system)
    const project = await projectOf(folder, cwd)
    return {
      file: join(folder, geminiPathOf(project, id, createdAt)),
      marker: { file: join(folder, "tmp", project, PROJECT_ROOT), text: cwd },
      resume: `cd ${shellWord(cwd)} && gemini --resume ${id}`,
    }
  },
}

function folderOf({ env, home }: AgentSystem): string {
  return join(env["GEMINI_CLI_HOME"] || home, ".gemini")
}

/** The name of a folder's project, by the rules of Gemini CLI: the registered one, one that has its path, or a new one. */
async function projectOf(folder: string, cwd: string): Promise<string> {
  const registered = await registeredProjects(folder)
  const known = registered[cwd]
  const owners = await ownersOf(folder)
  const isFree = (name: string): boolean => owners.every((owned) => (owned.get(name) ?? cwd) === cwd)
  if (known !== undefined && isFree(known)) return known
  for (const owned of owners) for (const [name, owner] of owned) if (owner === cwd) return name
  const taken = new Set(Object.values(registered))
  const name = slugOf(basename(cwd))
  for (let n = 0; ; n++) {
    const candidate = n === 0 ? name : `${name}-${n}`
    if (!taken.has(candidate) && isFree(candidate)) return candidate
  }
}

/** Names by folders. Gemini CLI begins a new list if this one is missing or is not as it should be. */
async function registeredProjects(folder: string): Promise<Readonly<Record<string, string>>> {
  try {
    const { projects } = JSON.parse(await readFile(join(folder, "projects.json"), "utf8")) as { projects?: unknown }
    const names = Object.values(projects as object) as unknown[]
    return names.every((name) => typeof name === "string" && /^[a-z0-9-]+$/.test(name))
      ? (projects as Readonly<Record<string, string>>)
      : {}
  } catch {
    return {}
  }
}

/** The folders that the projects in `tmp` and in `history` belong to. */
async function ownersOf(folder: string): Promise<readonly ReadonlyMap<string, string>[]> {
  return await Promise.all(
    ["tmp", "history"].map(async (name) => {
      const owners = new Map<string, string>()
      for (const project of await readdir(join(folder, name)).catch(() => [])) {
        const owner = await readFile(join(folder, name, project, PROJECT_ROOT), "utf8").catch(() => undefined)
        if (owner !== undefined) owners.set(project, owner.trim())
      }
      return owners
    }),
  )
}

function slugOf(text: string): string {
  const slug = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")
  return slug.replaceAll(/^-|-$/g, "") || "project"
}
