/** The protocol counts the parameters of a statement in 16 bits (WO-PG-21). */
export const maximumParameters = 65_535;
