export type * from "./storage/index.ts"
