/** Names of sessions, and of the files they are saved as. */
import type { SessionInfo } from "@sessions/core"

export function titleOf({ title, firstPrompt }: SessionInfo): string {
  const name = (title ?? firstPrompt ?? "").trim().replace(/\s+/g, " ")
  return name === "" ? "Untitled session" : name
}

/** As a download, which needs no permission. */
export function save(pieces: readonly string[], name: string): void {
  const url = URL.createObjectURL(new Blob([...pieces], { type: "application/x-ndjson" }))
  const link = document.createElement("a")
  link.href = url
  // What file systems do not take in a name.
  link.download = name.replace(/[\\/:*?"<>|]/g, " ").trim()
  link.click()
  // The download has begun when the click returns, but some browsers read the address a little later.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
