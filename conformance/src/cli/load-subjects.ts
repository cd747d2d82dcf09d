/** Loads the subjects for the command from a module. */
import { pathToFileURL } from "node:url"
import { resolve } from "node:path"
import { existsSync } from "node:fs"
import type { Subject } from "../subject.ts"
import { UsageError } from "./arguments.ts"

/** Returns the subjects that a module exports. Throws a {@link UsageError} that says what is missing. */
export async function loadSubjects(file: string): Promise<readonly Subject[]> {
  const path = resolve(file)
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}.`)
  const exported = await importModule(path)
  const given = exported["default"] ?? exported["subject"]
  if (given === undefined) throw new UsageError(`${file} exports neither a default nor \`subject\`.`)
  const subjects: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (subjects.length === 0) throw new UsageError(`${file} exports an empty list of subjects.`)
  return subjects.map((subject) => checked(subject, file))
}

async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (cause) {
    const { code, message } = cause as { code?: unknown; message?: unknown }
    const hint = code === "ERR_UNKNOWN_FILE_EXTENSION" ? " TypeScript needs Node 22.18 or newer, Bun or Deno." : ""
    throw new UsageError(`${path} could not be loaded: ${String(message ?? cause)}.${hint}`, { cause })
  }
}

function checked(subject: unknown, file: string): Subject {
  const { name, makeLocation, open } = (subject ?? {}) as Partial<Subject>
  const missing = [
    ...(typeof name === "string" && name !== "" ? [] : ["name, a text"]),
    ...(typeof makeLocation === "function" ? [] : ["makeLocation(), which creates a new, empty location"]),
    ...(typeof open === "function" ? [] : ["open(location), which opens a storage on it"]),
  ]
  if (missing.length > 0) throw new UsageError(`The subject of ${file} lacks ${missing.join("; ")}.`)
  return subject as Subject
}
