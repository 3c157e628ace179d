# SPDX-License-Identifier: Apache-2.0
# bash completion for firn
_firn()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "serve sql status env verify config version help" -- "$cur")
        return
    fi
    case $prev in
    --data) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
    --config | -f) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "table csv json" -- "$cur"); return ;;
    --dialect) mapfile -t COMPREPLY < <(compgen -W "spark materialize" -- "$cur"); return ;;
    esac
    case ${COMP_WORDS[1]} in
    serve) mapfile -t COMPREPLY < <(compgen -W "--data --lake --sql --manage --config --set" -- "$cur") ;;
    sql) mapfile -t COMPREPLY < <(compgen -W "--data -c -f --format --dialect --conf" -- "$cur") ;;
    verify) mapfile -t COMPREPLY < <(compgen -W "--data --deep" -- "$cur") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "--data" -- "$cur") ;;
    esac
}
complete -F _firn firn
