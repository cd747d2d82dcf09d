/** `@sessions/http/client`: clients of the handlers, for pages and programs. Imports nothing of the server. */
export type { ClientOptions } from "./client-options.ts"
export {
  connectHttpStorage,
  type ConnectHttpStorageOptions,
  createHttpStorage,
  type HttpStorageOptions,
} from "./storage/client.ts"
