/** Deno's permissions. They are queried, not requested: a request would prompt on the terminal in the middle of a call. */

/** Whether this process may do something that a storage can do without. True on all other runtimes. */
export function isPermitted(permission: object): boolean {
  const { Deno } = globalThis as { Deno?: { permissions: { querySync(of: object): { state: string } } } }
  return Deno === undefined || Deno.permissions.querySync(permission).state === "granted"
}
