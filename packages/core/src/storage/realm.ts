/**
 * Checks of values from any realm: `instanceof` is false for a value of another frame, of a VM context, and of the globals of some
 * test runners.
 */

export function isBytes(value: unknown): value is Uint8Array {
  return tagOf(value) === "Uint8Array"
}

export function isError(value: unknown): value is Error {
  return tagOf(value) === "Error"
}

/** The name of the built-in class. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}
