/** A prompt as the stores return it. */
import type { StoredPrompt } from "./types.ts"

/** `at` in unix seconds. One that another program wrote, and that is no time, is shown as the beginning of 1970. */
export function toPrompt(id: number, prompt: string, at: number, cwd: string | null | undefined): StoredPrompt {
  const time = new Date(at * 1000)
  const iso = (Number.isNaN(time.getTime()) ? new Date(0) : time).toISOString()
  return { id, prompt, at: iso, ...(typeof cwd === "string" ? { cwd } : {}) }
}
