//! `docker` and `kubectl`: which of their commands only show. Options that choose another daemon, another server or
//! other credentials are not listed. Called by the dispatch.

use super::super::analysis::{Class, Doing};
use super::options::{Options, Parsed, known, options, shown};
use super::{Arg, Judgement, Program, code};

/// From the usage texts of docker 28 and kubectl 1.32.
pub(super) const PROGRAMS: &[Program] = &[
    code("docker", |name, args| judge(name, args, options("", ""), DOCKER)),
    code("kubectl", |name, args| judge(name, args, KUBE, KUBECTL)),
];

/// A command, or several that take the same words: names with commas between, options, and what says why these words
/// do more than show.
type Command = (&'static str, Options, fn(&Parsed) -> Option<&'static str>);

const DOCKER: &[Command] = &[
    (
        "ps,container ls,container list,container ps",
        options("af:n:lqs", "all filter= format= last= latest no-trunc quiet size").at_most(0),
        no_harm,
    ),
    ("images,image ls,image list", options("af:q", "all digests filter= format= no-trunc quiet tree"), no_harm),
    ("info,system info,version", options("f:", "format=").at_most(0), no_harm),
    ("image inspect,network inspect,volume inspect", options("f:sv", "format= size type= verbose"), no_harm),
    ("logs,container logs", options("fn:t", "details follow since= tail= timestamps until="), no_harm),
    ("stats,container stats", options("a", "all format= no-stream no-trunc"), |parsed| {
        (!parsed.has(&["no-stream"])).then_some("without --no-stream doesn't end")
    }),
    ("top,container top", options("", "").at_most(1), no_harm),
    ("port,container port,diff,container diff", options("", ""), no_harm),
    ("history,image history", options("Hq", "format= human no-trunc quiet"), no_harm),
    (
        "network ls,network list,volume ls,volume list",
        options("f:q", "filter= format= no-trunc quiet").at_most(0),
        no_harm,
    ),
    ("context ls,context list", options("q", "format= quiet").at_most(0), no_harm),
    ("context show", options("", "").at_most(0), no_harm),
    ("system df", options("v", "format= verbose").at_most(0), no_harm),
    ("node ls,service ls,stack ls,plugin ls", options("f:q", "filter= format= no-trunc quiet").at_most(0), no_harm),
    ("compose ls", options("aq", "all filter= format= quiet").at_most(0), no_harm),
    ("compose version", options("f:", "format= short").at_most(0), no_harm),
];

/// Options of every command of `kubectl`.
const KUBE: Options = options("n:", "namespace= context= request-timeout=");

const KUBECTL: &[Command] = &[
    ("get", GET, secrets),
    ("describe", options("Al:", "all-namespaces selector= show-events? chunk-size=").with(&KUBE), secrets),
    (
        "logs",
        options(
            "c:fpl:",
            "container= follow previous selector= all-containers? all-pods? prefix timestamps tail= since= since-time= \
             limit-bytes= ignore-errors max-log-requests= pod-running-timeout=",
        )
        .with(&KUBE),
        no_harm,
    ),
    (
        "top,top pod,top pods,top po,top node,top nodes,top no",
        options("Al:", "all-namespaces selector= containers no-headers sort-by= sum field-selector=").with(&KUBE),
        no_harm,
    ),
    ("version", options("o:", "client? output= short").at_most(0).with(&KUBE), written_out),
    ("config current-context", options("", "").at_most(0), no_harm),
    ("config get-contexts", options("o:", "output= no-headers"), written_out),
    ("config get-clusters,config get-users", options("", "").at_most(0), no_harm),
    ("config view", options("o:", "output= minify").at_most(0).with(&KUBE), written_out),
    (
        "api-resources",
        options("o:", "output= api-group= namespaced? cached no-headers sort-by= verbs= categories=")
            .at_most(0)
            .with(&KUBE),
        written_out,
    ),
    ("api-versions", options("", "").at_most(0).with(&KUBE), no_harm),
    ("explain", options("", "api-version= recursive output=").with(&KUBE), written_out),
    (
        "events",
        options("Awo:", "all-namespaces watch for= types= no-headers output=").at_most(0).with(&KUBE),
        written_out,
    ),
    ("cluster-info", options("", "").at_most(0).with(&KUBE), no_harm),
    ("rollout history,rollout status", options("w", "revision= watch? timeout=").with(&KUBE), no_harm),
    ("auth whoami", options("", "").at_most(0).with(&KUBE), no_harm),
    ("auth can-i", options("Aq", "all-namespaces quiet list no-headers subresource=").with(&KUBE), no_harm),
];

const GET: Options = options(
    "Al:o:wL:",
    "all-namespaces selector= field-selector= output= watch watch-only show-labels show-kind show-managed-fields \
     sort-by= no-headers label-columns= ignore-not-found chunk-size= output-watch-events template= subresource= \
     allow-missing-template-keys?",
)
.with(&KUBE);

fn judge(name: &str, args: &[Arg], global: Options, commands: &'static [Command]) -> Judgement {
    let words = match global.options_first().parse(name, args) {
        Ok(parsed) => parsed.operands,
        Err(why) => return Judgement::Unknown(why),
    };
    let (found, rest) = match words.as_slice() {
        [Arg::Literal(first), Arg::Literal(second), rest @ ..]
            if find(commands, &format!("{first} {second}")).is_some() =>
        {
            (find(commands, &format!("{first} {second}")), rest)
        }
        [Arg::Literal(first), rest @ ..] => (find(commands, first), rest),
        [] => return known(Class::ReadOnly, Doing::Other, Vec::new()),
        [_, ..] => (None, words.as_slice()),
    };
    let Some((_, options, harm)) = found else {
        let command = words.iter().take(2).map(shown).collect::<Vec<_>>().join(" ");
        return Judgement::Unknown(format!("{name} {command} is not known to be harmless"));
    };
    match options.parse(name, rest) {
        Ok(parsed) => match harm(&parsed) {
            Some(why) => Judgement::Unknown(format!("{name} {why}")),
            None => known(Class::ReadOnly, Doing::Other, Vec::new()),
        },
        Err(why) => Judgement::Unknown(why),
    }
}

fn find(commands: &'static [Command], name: &str) -> Option<&'static Command> {
    commands.iter().find(|(names, ..)| names.split(',').any(|listed| listed == name))
}

fn no_harm(_: &Parsed) -> Option<&'static str> {
    None
}

/// Secrets are not shown, by any name that holds the word, nor what is not written out.
fn secrets(parsed: &Parsed) -> Option<&'static str> {
    let open = |word: &Arg| matches!(word, Arg::Literal(text) if !text.to_ascii_lowercase().contains("secret"));
    match parsed.operands.iter().all(open) {
        true => written_out(parsed),
        false => Some("may show secrets"),
    }
}

/// A form of output may be read from a file.
fn written_out(parsed: &Parsed) -> Option<&'static str> {
    let from_file = |form: &Arg| !matches!(form, Arg::Literal(text) if !text.contains("file"));
    parsed.values(&["o", "output"]).any(from_file).then_some("may read the form of its output from a file")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read};

    #[test]
    fn docker_shows() {
        only_read(&[
            "docker ps",
            "docker ps -a --format {{.Names}}",
            "docker images -q",
            "docker info",
            "docker image inspect a",
        ]);
        only_read(&[
            "docker logs --tail 50 a",
            "docker logs -f a",
            "docker stats --no-stream",
            "docker port a",
            "docker diff a",
        ]);
        only_read(&[
            "docker network ls",
            "docker volume ls -q",
            "docker context ls",
            "docker compose ls",
            "docker system df",
        ]);
        only_read(&[
            "docker version",
            "docker --version",
            "docker history a",
            "docker container ls",
            "docker image ls",
            "docker top a",
        ]);
        ask(&[
            "docker -H tcp://192.0.2.1 ps",
            "docker --host x ps",
            "docker --context x ps",
            "docker -c x ps",
            "docker run a",
        ]);
        ask(&[
            "docker exec a ls",
            "docker rm a",
            "docker build .",
            "docker system prune",
            "docker stats",
            "docker compose up",
        ]);
        ask(&[
            "docker compose ps",
            "docker compose config",
            "docker --config x ps",
            "docker …",
            "docker ps …",
            "docker top a e",
        ]);
        ask(&[
            "docker pull a",
            "docker search a",
            "docker image rm a",
            "docker context use x",
            "docker cp a:b c",
            "docker login",
        ]);
    }

    #[test]
    fn kubectl_shows_no_secrets() {
        only_read(&[
            "kubectl get pods",
            "kubectl get pods -A -o wide",
            "kubectl -n x get all",
            "kubectl get pod a -o yaml",
        ]);
        only_read(&[
            "kubectl get deploy,svc -l app=x",
            "kubectl describe pod a",
            "kubectl logs -f a -c b --tail=5",
            "kubectl top pod",
        ]);
        only_read(&[
            "kubectl version --client",
            "kubectl config current-context",
            "kubectl config get-contexts",
            "kubectl explain pod",
        ]);
        only_read(&[
            "kubectl api-resources",
            "kubectl get events --sort-by=.metadata.name",
            "kubectl config view --minify",
        ]);
        only_read(&[
            "kubectl rollout status deploy/a",
            "kubectl get pods -n x -w",
            "kubectl get pods -o jsonpath={.items}",
        ]);
        ask(&[
            "kubectl get secret",
            "kubectl get secrets -o yaml",
            "kubectl get pods,secrets",
            "kubectl get secret/a",
            "kubectl get …",
        ]);
        ask(&[
            "kubectl describe secret a",
            "kubectl exec pod -- ls",
            "kubectl apply -f x",
            "kubectl delete pod a",
            "kubectl get -f x",
        ]);
        ask(&[
            "kubectl --kubeconfig x get pods",
            "kubectl get pods --kubeconfig=x",
            "kubectl -s http://x get pods",
            "kubectl get pods --token x",
        ]);
        ask(&[
            "kubectl get --raw /x",
            "kubectl get pods --as x",
            "kubectl config view --raw",
            "kubectl config use-context x",
        ]);
        ask(&[
            "kubectl get pods -o jsonpath-file=x",
            "kubectl get pods -o …",
            "kubectl get pods -o templatefile=x",
            "kubectl get pods -otemplatefile --template=x",
            "kubectl version --output=go-template-file=x",
            "kubectl proxy",
            "kubectl cp a:b c",
            "kubectl port-forward a 1",
        ]);
        ask(&[
            "kubectl edit pod a",
            "kubectl rollout restart deploy/a",
            "kubectl plugin-of-mine",
            "kubectl get -k x",
            "kubectl get pods/…",
        ]);
        ask(&[
            "kubectl get SECRETS",
            "kubectl cluster-info dump",
            "kubectl diff -f x",
            "kubectl debug a",
            "kubectl -n … get secret",
        ]);
    }
}
