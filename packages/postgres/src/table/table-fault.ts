/** Something about a table that stands in the way, with what mends it. */
export interface TableFault {
  readonly message: string;
  /** DDL or an action, for people. */
  readonly remedy: string;
}
