import { fault } from "../faults.js";
import { crossCheck } from "./cross-check.js";

const isRequired = (target: string | { readonly required: boolean }) => typeof target === "string" || target.required;

const routing = crossCheck(["routing", "sink"], ({ routing, sink }) => {
  const names = routing.routes.map(({ name }) => name);
  return [
    routing.enabled &&
      sink.type !== "fanout" &&
      fault("routing.enabled", "needs a fan-out sink", "set it to false; routing has no effect on one destination"),
    routing.default_targets.length > 0 &&
      routing.no_match !== "default_route" &&
      fault("routing.default_targets", "needs no_match default_route", "set that or remove the targets"),
    routing.no_match === "default_route" &&
      routing.default_targets.length === 0 &&
      fault("routing.default_targets", "required key is missing", "no_match default_route needs targets"),
    new Set(names).size < names.length && fault("routing.routes", "must not name a route twice", "give each route a name of its own"),
    ...routing.routes.map(
      (route, index) =>
        !route.allow_unrequired &&
        !route.targets.some(isRequired) &&
        fault(`routing.routes[${index}].targets`, "has no required target", "require one, or set allow_unrequired to true"),
    ),
  ];
});

/** Rules between the keys of routing (FW-RTE-06, FW-FAN-10, FW-CFG-12). */
export const routingChecks = [routing];
