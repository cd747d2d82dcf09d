import process from "node:process"

/**
 * From now on what reaches nobody (a rejection that nobody handles, an error thrown in a timer) does not end the program. Gives what
 * came since it was last asked.
 */
export function collectStrays(): () => readonly unknown[] {
  const strays: unknown[] = []
  const note = (error: unknown): void => void strays.push(error)
  process.on("unhandledRejection", note)
  process.on("uncaughtException", note)
  return () => strays.splice(0)
}
