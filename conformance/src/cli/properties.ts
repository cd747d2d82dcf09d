/** Checks both properties for the command. */
import type { Subject } from "../subject.ts"
import type { Arguments } from "./arguments.ts"

export interface PropertyResult {
  readonly name: string
  readonly status: "passed" | "failed" | "skipped"
  readonly seed: number
  /** With "failed" and "skipped". */
  readonly message?: string
}

/** Skips the properties, with a reason, if `fast-check` or `@sessions/memory` is not installed. */
export async function checkProperties<L>(
  subject: Subject<L>,
  { properties, timeLimit }: Pick<Arguments, "properties" | "timeLimit">,
  uncaughtErrors: () => readonly unknown[] = () => [],
): Promise<readonly PropertyResult[]> {
  if (properties === undefined) return []
  const { seed } = properties
  const module = await import("../properties/index.ts").catch((error: unknown) => {
    if ((error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND") return undefined
    throw error
  })
  if (module === undefined) {
    return [{ name: "properties", status: "skipped", seed, message: "needs fast-check and @sessions/memory installed" }]
  }
  const results: PropertyResult[] = []
  for (const name of ["sequential", "interleaved"] as const) {
    try {
      await module.checkProperty(name, subject, { ...properties, timeLimit })
      const [uncaught] = uncaughtErrors()
      if (uncaught !== undefined) throw new Error(`There was an uncaught error: ${messageOf(uncaught)}`)
      results.push({ name, status: "passed", seed })
    } catch (error) {
      results.push({ name, status: "failed", seed, message: messageOf(error) })
    }
  }
  return results
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
