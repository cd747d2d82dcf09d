/** Titles of sessions, and their download as files. */
import type { SessionInfo } from "@sessions/core"
import { plainText } from "../sessions/plain-text.ts"

export function titleOf({ title, firstPrompt }: SessionInfo): string {
  const name = plainText(title ?? firstPrompt ?? "")
  return name === "" ? "Untitled session" : name
}

/** Saves as a download, which needs no permission. */
export function save(chunks: readonly string[], name: string): void {
  const url = URL.createObjectURL(new Blob([...chunks], { type: "application/x-ndjson" }))
  const link = document.createElement("a")
  link.href = url
  // File systems do not allow these characters in a name.
  link.download = name.replace(/[\\/:*?"<>|]/g, " ").trim()
  link.click()
  // Some browsers read the URL only after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
